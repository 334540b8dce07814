// What a connection still owes: HTTP lets a client send its next request before the last one is answered.
import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** Calls back when every request that came whole on this connection is answered; at once where none is open. */
export function afterAnswers(socket: Duplex, then: () => void): void {
  // Node keeps it there to ask the same when it refuses a broken request itself.
  const answering = (socket as Duplex & { _httpMessage?: ServerResponse | null })._httpMessage
  if (!answering?.req.complete || answering.closed) return then()
  answering.once('close', () => afterAnswers(socket, then))
}
