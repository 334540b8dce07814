// A TCP proxy before Postgres that can cut connections at the worst moment, refuse them or fall silent.
import { connect, createServer, type Socket } from 'node:net'

export async function breakableProxy(databaseUrl: string) {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let mustCut = false
  let isRefusing = false
  let cuts = 0
  let silence = { falls: false }
  // Half open is allowed for the sake of silence: who hears nothing hears no end of the connection either.
  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (isRefusing) return client.destroy()
    sockets.add(client)
    client.on('error', () => {})
    client.on('close', () => sockets.delete(client))
    if (silence.falls) return void client.resume()
    const upstream = connect(Number(target.port), target.hostname)
    const mine = silence
    let hasAsked = false
    sockets.add(upstream)
    upstream.on('error', () => {})
    const end = () => {
      if (mine.falls) return
      client.destroy()
      upstream.destroy()
    }
    client.on('end', end)
    client.on('close', end)
    upstream.on('close', () => {
      sockets.delete(upstream)
      end()
    })
    client.on('data', (data) => {
      if (mine.falls) return
      hasAsked = mustCut
      upstream.write(data)
    })
    upstream.on('data', (data) => {
      if (mine.falls) return
      if (mustCut && hasAsked) {
        mustCut = false
        cuts += 1
        client.destroy()
      } else client.write(data)
    })
  })
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = server.address() as { port: number }
  const url = new URL(databaseUrl)
  url.port = String(port)
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: url.href,
    get cuts() {
      return cuts
    },
    /** The next answer of the database is swallowed and its connection cut: the statement itself was done. */
    cutBeforeNextAnswer() {
      mustCut = true
    },
    /** Cuts all connections, and new ones as soon as they are open, as a proxy does that has lost its database. */
    refuse() {
      isRefusing = true
      destroyAll()
    },
    /** Cuts all connections, and nobody listens any more. */
    vanish() {
      destroyAll()
      server.close()
    },
    /** Whatever is sent is swallowed, both ways, and no connection ends: not now, and those that there are never. */
    fallSilent() {
      silence.falls = true
    },
    /** New connections work again. */
    async accept() {
      isRefusing = false
      silence = { falls: false }
      if (!server.listening) await listen(port)
    },
    close: () =>
      new Promise<void>((resolve) => {
        destroyAll()
        server.close(() => resolve())
      }),
  }
}
