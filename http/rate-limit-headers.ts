import type { FastifyReply } from 'fastify'
import type { RateState } from '../lib/operations/admission.js'

/**
 * Takes the states of rate limits into the headers of the answer: one item for each limit, and its latest state when an
 * operation is admitted in several steps (draft-ietf-httpapi-ratelimit-headers-10).
 */
export function rateLimitHeaders (reply: FastifyReply): (states: readonly RateState[]) => void {
  const noted = new Map<string, RateState>()
  return (states) => {
    for (const state of states) noted.set(state.scope, state)
    const list = (item: (state: RateState) => string) => [...noted.values()].map(item).join(', ')
    reply.header('ratelimit-policy', list(({ scope, perMinute }) => `"${scope}";q=${perMinute};w=60`))
    reply.header('ratelimit', list(({ scope, remaining, resetSeconds }) => (
      `"${scope}";r=${remaining};t=${resetSeconds}`
    )))
  }
}
