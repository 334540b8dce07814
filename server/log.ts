// Logs as JSON lines on standard error, without payload text or keys; standard output is for people.
import pino from 'pino'

export type Logger = pino.Logger

export function makeLogger(level: string): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ fd: 2, sync: true }))
}
