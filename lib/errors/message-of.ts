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
