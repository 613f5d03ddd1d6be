import type { FastifyServerOptions } from 'fastify'
import type { Config } from '../lib/config/config.js'
import { standardOutputLines } from './log-destination.js'

/** The destination and form of the log. */
export interface LogOptions {
  /** Lines for people instead of JSON: for a terminal. */
  pretty?: boolean
  /** Instead of standard output, for tests. */
  stream?: { write (line: string): void }
}

/**
 * Members of a log line that may contain secrets or texts of users. Every path is listed, because a wildcard makes pino
 * search each line, which multiplies the cost of a line by six.
 */
const REDACTED = ['headers', 'body', 'authorization', 'token', 'secret', 'password', 'dsn', 'content', 'query', 'text']
  .concat(['req', 'request', 'res', 'response'].flatMap((parent) => (
    [`${parent}.headers`, `${parent}.body`, `${parent}.query`]
  )))

/** The members of an error that explain it. Others can hold SQL statements with their values, so none is logged. */
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

const PRETTY = { target: 'pino-pretty', options: { translateTime: 'HH:MM:ss.l', ignore: 'pid,hostname' } }

/** The serializers of all lines of the gateway, even when another app provides the logger. */
export const LOG_RULES = {
  redact: { paths: REDACTED, censor: '[redacted]' },
  serializers: { err: serializeError },
}

/** Options of pino: JSON lines, request id as `request_id`, secrets and bodies redacted by path. */
export function loggerOptions (
  level: Config['logLevel'], { pretty = false, stream }: LogOptions,
): NonNullable<FastifyServerOptions['logger']> {
  const rules = { level, ...LOG_RULES }
  if (stream !== undefined) return { ...rules, stream }
  return pretty ? { ...rules, transport: PRETTY } : { ...rules, stream: standardOutputLines() }
}
