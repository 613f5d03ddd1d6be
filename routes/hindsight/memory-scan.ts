import type { FastifyInstance, FastifyReply } from 'fastify'
import { disconnectSignal } from '../../http/disconnect-signal.js'
import type { Semaphore } from '../../lib/concurrency/semaphore.js'
import { giveWay, isDue } from '../../lib/concurrency/event-loop.js'
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

interface MemoryScan {
  bankId: string
  context: RequestContext
  /** Conditions that the store checks. */
  filters: WireFilters['also']
  /** @returns whether to continue */
  visit: (memory: MemoryRecord) => boolean
  /** Whose client may leave while the scan waits. */
  reply?: FastifyReply
  /** Bounds how many scans of more than SHORT_SCAN memories run at a time. */
  permits?: Semaphore
}

/**
 * Reads the memories of a bank, newest first, a page at a time.
 * @throws ServiceError not_supported when there are more than MAX_MEMORIES_READ; server_busy
 */
export async function scanMemories (
  app: FastifyInstance, { bankId, context, filters, visit, reply, permits }: MemoryScan,
): Promise<void> {
  const caller = callerOf(context)
  let looked = 0
  let releasePermit: (() => void) | undefined
  try {
    for (let cursor: string | null | undefined; cursor !== null;) {
      const query = withoutUndefined({ bank_id: bankId, limit: PAGE, cursor, also: filters })
      const page = await app.memory.banks.memories(query, context)
      for (const memory of page.memories) {
        if (isDue()) await giveWay()
        if (++looked > MAX_MEMORIES_READ) throw tooLong()
        if (!visit(memory)) return
      }
      cursor = page.next_cursor
      if (looked >= SHORT_SCAN && cursor !== null) {
        releasePermit ??= await permits?.acquire({ flow: [caller], signal: reply && disconnectSignal(reply) })
      }
    }
  } finally {
    releasePermit?.()
  }
}

export function tooLong () {
  return unsupported(
    `more than ${MAX_MEMORIES_READ} memories`,
    'an answer that has to count or to skip so many is not given; GET /v1/banks/{bank_id}/memories has cursors instead',
  )
}
