// A TCP proxy before Postgres that can cut connections at the worst moment.
import { connect, createServer, type Socket } from 'node:net'

export async function breakableProxy(databaseUrl: string) {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let mustCut = false
  let isRefusing = false
  let cuts = 0
  const server = createServer((client) => {
    if (isRefusing) return client.destroy()
    const upstream = connect(Number(target.port), target.hostname)
    let hasAsked = false
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.on('data', (data) => {
      hasAsked = mustCut
      upstream.write(data)
    })
    upstream.on('data', (data) => {
      if (mustCut && hasAsked) {
        mustCut = false
        cuts += 1
        client.destroy()
      } else client.write(data)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(databaseUrl)
  url.port = String((server.address() as { port: number }).port)
  return {
    url: url.href,
    get cuts() {
      return cuts
    },
    /** The next answer of the database is swallowed and its connection cut: the statement itself was done. */
    cutBeforeNextAnswer() {
      mustCut = true
    },
    /** Cuts all connections and refuses new ones. */
    refuse() {
      isRefusing = true
      for (const socket of sockets) socket.destroy()
    },
    accept() {
      isRefusing = false
    },
    close: () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
}
