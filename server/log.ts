// Logs as JSON lines on standard error, without payload text or keys; standard output is for people.
import pino from 'pino'

export type Logger = pino.Logger

/** @param file where the lines go instead of standard error */
export function makeLogger(level: string, file?: string): Logger {
  const destination = pino.destination({ dest: file ?? 2, sync: true })
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination)
}
