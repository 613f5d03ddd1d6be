import type { BankKey } from '../access/context.js'
import { DeadlineExceeded } from '../base/deadline.js'
import { redactedReason, withoutMessage } from '../base/message-of.js'
import { retryAfter, ServiceError, type ErrorOptions } from '../base/service-error.js'
import type { Finish } from '../models/language-model.js'
import { ModelCallError } from '../models/remote/model-call-error.js'

/** How an operator enables structured answers, which the mock does not support; part of messages. */
export const STRUCTURED_OUTPUT_ADVICE = 'the operator sets llm_provider (openai_compatible or anthropic) and ' +
  'llm_provider_config in the configuration file'

/** The model returned something that cannot be used as an answer. */
export class UnusableGeneration extends Error {
  /** @param reason for the log; it must not contain text of the answer */
  constructor (reason = 'The language model answered without text, or without its count of tokens') {
    super(reason)
    this.name = 'UnusableGeneration'
  }
}

/** An error of the model's own code, as a class of the operator may throw. Its message may contain the prompt. */
class ForeignModelError extends Error {
  constructor (cause: unknown) {
    super('The language model failed', { cause })
    this.name = 'ForeignModelError'
  }
}

/** @returns the error, as one of the model if it may be of the model's own code */
export function asModelError (error: unknown, signal: AbortSignal | undefined): unknown {
  const known = [ModelCallError, UnusableGeneration, DeadlineExceeded, ServiceError]
  return signal?.aborted === true || known.some((type) => error instanceof type) ? error : new ForeignModelError(error)
}

/** The error of an unusable answer with this finish reason. */
export function unusableFor (finish: Finish | undefined): UnusableGeneration {
  return finish === 'filtered'
    ? new UnusableGeneration('A content filter blocked the answer of the language model')
    : new UnusableGeneration()
}

/** The outcome of a call, as labelled in the metrics. */
export function callOutcome (error: unknown): string {
  if (error instanceof ModelCallError) return error.kind
  if (error instanceof UnusableGeneration) return 'unusable'
  return error instanceof DeadlineExceeded ? 'timeout' : 'error'
}

/** Whether the endpoint is likely to have processed the call, and to charge for it. */
export function reachedTheModel (error: unknown): boolean {
  return ['timeout', 'unusable'].includes(callOutcome(error))
}

/**
 * The error that the client of the gateway receives for a failed call. Details from the provider's client are only for
 * the log.
 * @returns undefined for an error that is none of a model, of a deadline or of a ServiceError: the gateway has failed
 */
export function modelFailure (cause: unknown): ServiceError | undefined {
  if (cause instanceof ServiceError) return cause
  if (cause instanceof DeadlineExceeded) return lateFailure(cause)
  if (cause instanceof UnusableGeneration) return unusableFailure(cause)
  if (cause instanceof ForeignModelError) return unavailableFailure({ cause: withoutMessage(cause.cause) })
  if (!(cause instanceof ModelCallError)) return undefined
  if (cause.kind === 'unusable') return unusableFailure(cause)
  const retry = cause.retryAfterMs === undefined ? {} : retryAfter(cause.retryAfterMs)
  if (cause.kind !== 'overloaded') return unavailableFailure({ ...retry, cause })
  return new ServiceError('overloaded', 'Too many requests wait for the language model', {
    ...retryAfter(1000), ...retry, cause,
  })
}

function unusableFailure (cause: Error): ServiceError {
  return new ServiceError('model_output_invalid', 'The language model gave an unusable answer', { cause })
}

function unavailableFailure (details: ErrorOptions): ServiceError {
  return new ServiceError('dependency_unavailable', 'The language model is unavailable', details)
}

/**
 * The error of an answer that missed its deadline.
 * @param cause for the log
 */
export function lateFailure (cause: unknown): ServiceError {
  return new ServiceError('deadline_exceeded', 'The answer was not ready in time', { cause })
}

/**
 * Failures of one text alone, with successes of others between them, until one without a clear cause (a fault of
 * the endpoint, a timeout, an error of a custom provider) is taken to be caused by the text.
 */
const UNCLEAR_FAILURES = 5

/**
 * How often one text must fail alone, while others succeed, until the text counts as the cause and not the provider.
 * @returns Infinity for a failure that no text causes: the provider or its queue is busy, or was not called
 */
export function failuresOfOneText (error: unknown): number {
  const isUnusable = error instanceof ServiceError && error.code === 'model_output_invalid'
  const cause = error instanceof ServiceError ? error.cause : error
  if (!(cause instanceof ModelCallError)) {
    // Recognised by its name, because importing its class would load the library of worker threads.
    if (cause instanceof Error && cause.name === 'QueueFullError') return Infinity
    return isUnusable ? 1 : UNCLEAR_FAILURES
  }
  const { kind, retryAfterMs, isFault, isUnavailable } = cause
  if (['rate_limited', 'overloaded', 'circuit_open'].includes(kind)) return Infinity
  if (isUnavailable || retryAfterMs !== undefined) return Infinity
  return kind === 'unusable' || (kind === 'rejected' && !isFault) ? 1 : UNCLEAR_FAILURES
}

/** How long the endpoint of a failed call asks not to be called, in milliseconds; undefined: it does not say. */
export function requestedPauseMs (error: unknown): number | undefined {
  const cause = error instanceof ServiceError ? error.cause : error
  // Without a status the pause is that of our own circuit breaker or queue.
  return cause instanceof ModelCallError && cause.status !== undefined ? cause.retryAfterMs : undefined
}

/** The warning that a memory is given up, without its text. */
export function noVectorsWarning ({ memoryId, bank }: { memoryId: string, bank: BankKey }, error: unknown): string {
  return `embedding_provider: the memory ${memoryId} of the bank ${bank.bankId} gets no vectors ` +
    `(${loggedReason(error)}); it is found by its words only`
}

/** The warning that memories wait for their vectors. @param what what failed */
export function noVectorsYetWarning (what: string, error: unknown): string {
  return `embedding_provider: ${what} (${loggedReason(error)}); new memories are found by their words only until ` +
    'their vectors are made'
}

/** The reason of a failure for the log: that of the call, which does not contain its input, or as redactedReason. */
function loggedReason (error: unknown): string {
  const cause = error instanceof ServiceError ? error.cause : undefined
  return cause instanceof ModelCallError ? cause.message : redactedReason(error)
}
