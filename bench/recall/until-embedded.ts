import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { Type } from 'typebox'
import { checker } from '../checker.js'

const PAUSE_MS = 200
const LIMIT_MS = 10 * 60_000

const checkStatistics = checker(
  Type.Object({ pending_embeddings: Type.Optional(Type.Integer({ minimum: 0 })) }), 'the statistics of a bank',
)

/**
 * Waits until all memories of a bank have their vectors, which are added after the write.
 * @param statistics fetches the answer of GET /v1/banks/:bank_id/stats; without `pending_embeddings` in it there is
 *   nothing to wait for
 * @returns the elapsed milliseconds
 * @throws Error after limitMs
 */
export async function untilEmbedded (
  statistics: () => Promise<unknown>,
  { pauseMs = PAUSE_MS, limitMs = LIMIT_MS }: { pauseMs?: number, limitMs?: number } = {},
): Promise<number> {
  const started = performance.now()
  for (;;) {
    const { pending_embeddings: pending = 0 } = checkStatistics(await statistics())
    const passed = performance.now() - started
    if (pending === 0) return passed
    if (passed > limitMs) {
      throw new Error(`${pending} memories are still without a vector after ${Math.round(limitMs / 1000)} s`)
    }
    await delay(pauseMs)
  }
}
