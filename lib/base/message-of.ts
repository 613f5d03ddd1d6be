import { ServiceError } from './service-error.js'

/** The message of anything that was thrown. */
export function messageOf (error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The stack of anything that was thrown. */
export function stackOf (error: unknown): string {
  return error instanceof Error ? error.stack ?? error.message : String(error)
}

/** The reason of a failure for the log. An error of foreign code may contain its input, so only its name is logged. */
export function redactedReason (error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  if (!(error instanceof ServiceError)) return error.name
  return error.cause instanceof Error ? `${error.detail}: ${error.cause.name}` : error.detail
}

/** The error code of a system call or of Node.js. */
const CODE = /^[A-Z][A-Z0-9_]{0,63}$/

/** An error of foreign code for the log: without its message, which may contain its input, but with name and stack. */
export function withoutMessage (error: unknown): Error {
  const { name, message, stack = '', code } = error instanceof Error
    ? error as Error & { code?: unknown }
    : { name: typeof error, message: '' }
  const redacted = new Error(`${name} (its message may contain the input, and is not logged)`)
  redacted.name = name
  const head = `${message}\n`
  const at = stack.indexOf(head)
  redacted.stack = at === -1 ? redacted.message : `${redacted.message}\n${stack.slice(at + head.length)}`
  return Object.assign(redacted, typeof code === 'string' && CODE.test(code) ? { code } : {})
}
