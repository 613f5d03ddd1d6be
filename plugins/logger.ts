import type { FastifyServerOptions } from 'fastify'
import type { Config } from '../lib/config/config.js'

/** Where the log goes. */
export interface LogOptions {
  /** Lines for people instead of JSON: for a terminal. */
  pretty?: boolean
  /** Instead of standard output, for tests. */
  stream?: { write (line: string): void }
}

/**
 * Members that hold secrets or what people wrote, where a log call might put them. Each place is named: a wildcard
 * would be looked for in every line, at six times the cost of the line itself.
 */
const REDACTED = ['headers', 'body', 'authorization', 'token', 'secret', 'password', 'dsn', 'content', 'query', 'text']
  .concat(['req', 'request', 'res', 'response'].flatMap((holder) => [`${holder}.headers`, `${holder}.body`, `${holder}.query`]))

/** As much of an error as explains it. Its other members can hold statements with their values, so none is logged. */
function serializeError (error: unknown): { type: string, message: string, stack: string } {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error), stack: '' }
  const { code } = error as { code?: unknown }
  return {
    type: error.name,
    message: error.message,
    stack: error.stack ?? '',
    ...(typeof code === 'string' && { code }),
    ...(error.cause !== undefined && { cause: serializeError(error.cause) }),
  }
}

/** pino: JSON lines, request id as `request_id`, secrets and bodies redacted by path. */
export function loggerOptions (level: Config['logLevel'], { pretty = false, stream }: LogOptions): NonNullable<FastifyServerOptions['logger']> {
  return {
    level,
    redact: { paths: REDACTED, censor: '[redacted]' },
    serializers: { err: serializeError },
    ...(stream !== undefined && { stream }),
    ...(pretty && stream === undefined && { transport: { target: 'pino-pretty', options: { translateTime: 'HH:MM:ss.l', ignore: 'pid,hostname' } } }),
  }
}
