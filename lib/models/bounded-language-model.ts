import { limitsOf, type LimitedModel } from './call-limits.js'
import type { GenerateRequest, Generation, GenerationPart, LanguageModel } from './language-model.js'
import type { BreakerOptions } from '../concurrency/circuit-breaker.js'
import type { CallOptions } from './remote/call-options.js'
import { ResilientCalls, type ResilienceTools } from './remote/resilient-calls.js'
import { withoutUndefined } from '../validation/members.js'

export interface BoundedLanguageModelOptions {
  breaker: Required<BreakerOptions>
  /** Milliseconds of the longest deadline that a request can have, which can change. */
  ceilingMs: () => number
  tools?: Partial<ResilienceTools>
}

/**
 * Share of the longest deadline that an attempt may take, so that a hanging model times out before its caller gives up.
 */
const CEILING_SHARE = 0.75

/**
 * Wraps a language model with bounds: a bounded number of calls with a queue, a timeout of each attempt, retries within
 * the time of the request, and circuit breakers for the model and for each tenant. An error other than ModelCallError
 * counts as a failure, is not retried and is thrown as it is.
 * @throws ProviderError when the model's own limits are invalid
 */
export function boundedLanguageModel (
  model: LanguageModel & LimitedModel,
  { breaker, ceilingMs, tools = {} }: BoundedLanguageModelOptions,
): LanguageModel {
  const calls = new ResilientCalls({ service: 'language model', ...limitsOf('llm_provider', model), breaker, tools })
  const optionsOf = ({ signal, timeoutMs, tenantId }: GenerateRequest): CallOptions => ({
    signal,
    timeoutMs,
    tenantId,
    attemptTimeoutMs: ceilingMs() * CEILING_SHARE,
  })
  const bounded: LanguageModel = {
    ...withoutUndefined({ model: model.model, structured: model.structured }),
    generate: async (request) => {
      request.progress?.('waiting')
      return await calls.call<Generation>(async (signal) => {
        request.progress?.('made')
        return await model.generate({ ...request, signal })
      }, optionsOf(request))
    },
    status: () => ({ ...model.status?.(), ...calls.status() }),
    close: async () => {
      calls.close()
      await model.close?.()
    },
  }
  if (model.stream !== undefined) {
    bounded.stream = (request) => {
      request.progress?.('waiting')
      return calls.stream<GenerationPart>((signal) => {
        request.progress?.('made')
        return model.stream!({ ...request, signal })
      }, ({ type }) => type === 'end', optionsOf(request))
    }
  }
  return bounded
}
