import { messageOf, stackOf } from '../lib/base/message-of.js'

/** Exit codes of the command line. 130 is what a shell reports of a program that Ctrl-C ended. */
export const EXIT = { done: 0, failed: 1, usage: 2, interrupted: 130 } as const

/** An error that is shown as one message, without a stack. */
export class CommandError extends Error {
  readonly exitCode: number

  constructor (message: string, exitCode: number = EXIT.failed, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'CommandError'
    this.exitCode = exitCode
  }
}

/** An error in the arguments. */
export function usageError (message: string): CommandError {
  return new CommandError(message, EXIT.usage)
}

/** The message for people of any error, and the exit code. */
interface FailureReport {
  text: string
  exitCode: number
}

/**
 * Errors of configuration, providers and the database have messages for operators; any other error is a fault of the
 * program and is shown with its stack. The classes are loaded here, because a command that succeeds needs none of them.
 */
export async function reportOf (error: unknown): Promise<FailureReport> {
  if (error instanceof CommandError) return { text: error.message, exitCode: error.exitCode }
  const { ConfigurationError } = await import('../lib/config/problems.js')
  const { ProviderError } = await import('../lib/config/providers/registry.js')
  const { SqlError } = await import('../lib/stores/sql/executor.js')
  const { ServiceError } = await import('../lib/base/service-error.js')
  if (error instanceof ServiceError) return { text: withCause(error.detail, error.cause), exitCode: EXIT.failed }
  const words = [ConfigurationError, ProviderError, SqlError].some((known) => error instanceof known)
  return { text: words ? messageOf(error) : stackOf(error), exitCode: EXIT.failed }
}

/** The code of a system error, such as `ENOENT`. */
export function codeOf (error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

function withCause (text: string, cause: unknown): string {
  return cause instanceof Error ? `${text}: ${cause.message}` : text
}
