import { ProviderError } from '../../providers/registry.js'
import type { CallLimits } from '../call-limits.js'
import type { RemoteTools } from './endpoint.js'
import { ModelCallError } from './model-call-error.js'
import { ResilientCalls } from './resilient-calls.js'

interface ProbeTarget {
  readonly limits: CallLimits
  ping (signal: AbortSignal): Promise<void>
}

/**
 * Calls a model once, with retries. An exhausted rate limit is only a warning, because it shows that key, model and
 * address are right.
 * @throws ProviderError that names the fault
 */
export async function probe (
  key: string, service: string, model: ProbeTarget,
  { warn, tools }: { warn: (message: string) => void, tools: RemoteTools },
): Promise<void> {
  // A circuit that opened between the attempts would hide their error.
  const calls = new ResilientCalls({ service, ...model.limits, breaker: { threshold: Infinity, recoveryMs: 0 }, tools })
  try {
    await calls.call(async (signal) => { await model.ping(signal) })
  } catch (error) {
    if (!(error instanceof ModelCallError)) throw error
    if (error.kind === 'rate_limited') warn(`${key}: ${error.message} when it was probed`)
    else throw new ProviderError(`${key}: the probe failed, ${reasonOf(error)}: ${error.message}`)
  }
}

function reasonOf ({ kind, status }: ModelCallError): string {
  if (status === 401 || status === 403) return 'the key is refused'
  if (status === 404) return 'base_url or model is not known there'
  if (kind === 'rejected') return 'the request is refused; look at model and max_tokens_parameter'
  if (kind === 'unusable') return 'base_url is not that of such an API'
  if (kind === 'timeout') return 'there is no answer in time'
  return status === undefined ? 'there is no connection' : 'the endpoint is in trouble'
}
