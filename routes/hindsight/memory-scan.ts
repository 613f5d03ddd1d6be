import type { FastifyInstance, FastifyReply } from 'fastify'
import { disconnectSignal } from '../../http/disconnect-signal.js'
import { onResponseClose } from '../../http/response-close.js'
import type { Semaphore } from '../../lib/concurrency/semaphore.js'
import { turns } from '../../lib/concurrency/turn-budget.js'
import { callerOf, type RequestContext } from '../../lib/identity/context.js'
import type { WireFilters } from '../../lib/memory/records.js'
import type { MemoryRecord } from '../../lib/memory/schemas.js'
import { withoutUndefined } from '../../lib/validation/members.js'
import { unsupported } from './route.js'

/** The most memories that one request reads. Hindsight's pages are offsets, so all memories before a page are read. */
export const MAX_MEMORIES_READ = 10_000
/** A scan that keeps much may read so many without a permit. */
const SHORT_SCAN = 1000
const PAGE = 200
const CHARACTER_BYTES = 2

interface MemoryScan {
  bankId: string
  context: RequestContext
  /** Conditions that the store checks. */
  filters: WireFilters['also']
  /** @returns whether to continue, and the characters of the memory that are kept; the rest is released */
  visit: (memory: MemoryRecord) => { goOn: boolean, kept: number }
  /** The response in which what is kept is sent. */
  reply?: FastifyReply
  /** Bounds how many scans of more than SHORT_SCAN memories run at a time. */
  permits?: Semaphore
}

/**
 * Reads the memories of a bank, newest first, a page at a time. The bytes of the kept memories count until `reply` has
 * ended, or without it until the last page is read.
 * @throws ServiceError not_supported when there are more than MAX_MEMORIES_READ; server_busy
 */
export async function scanMemories (
  app: FastifyInstance, { bankId, context, filters, visit, reply, permits }: MemoryScan,
): Promise<void> {
  const caller = callerOf(context)
  const kept = app.workBytes.reserve(0, caller)
  let looked = 0
  let releasePermit: (() => void) | undefined
  try {
    for (let cursor: string | null | undefined; cursor !== null;) {
      const rows = app.workBytes.reserve(0, caller)
      try {
        const budget = { take: (bytes: number) => { rows.grow(bytes) } }
        const query = withoutUndefined({ bank_id: bankId, limit: PAGE, cursor, also: filters })
        const page = await app.memory.banks.memories(query, context, { budget })
        for (const memory of page.memories) {
          if (turns.isExhausted) await turns.next(caller)
          if (++looked > MAX_MEMORIES_READ) throw tooLong()
          const { goOn, kept: characters } = visit(memory)
          kept.grow(CHARACTER_BYTES * characters)
          if (!goOn) return
        }
        cursor = page.next_cursor
      } finally {
        rows.release()
      }
      if (looked >= SHORT_SCAN && cursor !== null) {
        releasePermit ??= await permits?.acquire({ flow: [caller], signal: reply && disconnectSignal(reply) })
      }
    }
  } finally {
    releasePermit?.()
    if (reply === undefined) kept.release()
    else onResponseClose(reply, () => { kept.release() })
  }
}

export function tooLong () {
  return unsupported(
    `more than ${MAX_MEMORIES_READ} memories`,
    'an answer that has to count or to skip so many is not given; GET /v1/banks/{bank_id}/memories has cursors instead',
  )
}
