import { MemoryGatewayError, type Memory, type RetainItem } from 'memory-gateway-client'
import { client } from '../../state/session.js'

/** Maximum number of memories that the page keeps for an undo. */
export const MAX_UNDO = 100
const MAX_CONCURRENT = 4
/** Maximum number of characters that one request restores, so that proxies accept it and it ends in time. */
const MAX_CHARACTERS = 250_000
/** The first line of an export. */
const HEADER = { format: 'memory-gateway-export', version: 1 } as const

export interface Undo {
  bank: string
  /** The memories that have not been stored again. */
  memories: readonly Memory[]
  /** Whether ids, times and trust are restored too, which requires `admin` on the bank. */
  isComplete: boolean
}

/** Reads whole memories before they are forgotten. Those that are already gone are omitted. */
export async function readMemories (bank: string, ids: readonly string[], known: readonly Memory[]): Promise<Memory[]> {
  const found = new Map(known.map((memory) => [memory.memory_id, memory]))
  const missing = ids.filter((id) => !found.has(id))
  for (let start = 0; start < missing.length; start += MAX_CONCURRENT) {
    const read = missing.slice(start, start + MAX_CONCURRENT).map(async (id) => await readOne(bank, id))
    for (const memory of (await Promise.all(read)).flat()) found.set(memory.memory_id, memory)
  }
  return ids.flatMap((id) => found.get(id) ?? [])
}

async function readOne (bank: string, id: string): Promise<Memory[]> {
  try {
    return [await client.value.getMemory({ bank_id: bank, memory_id: id })]
  } catch (error) {
    if (error instanceof MemoryGatewayError && error.status === 404) return []
    throw error
  }
}

/**
 * What an undo restores. `all`: the memories with their ids, times and trust; `content`: the contents, as new memories;
 * `none`: nothing, because the caller may not store memories or the page does not have them.
 */
export type UndoScope = 'all' | 'content' | 'none'

/** The permissions of the caller on the bank decide what an undo restores. */
export async function undoScopeOf (bank: string, signal: AbortSignal): Promise<UndoScope> {
  const { permissions = [] } = await client.value.whoami({ bank_id: bank }, { signal })
  const granted = new Set<string>(permissions.map(({ permission }) => permission))
  return granted.has('admin') ? 'all' : granted.has('write') ? 'content' : 'none'
}

/**
 * Restores memories, except those that have expired meanwhile, which the server would not store. Those that are stored
 * are removed from `data`, so that a repeat after a failure continues.
 * @param onProgress called after each request, with the number of memories that remain
 */
export async function undo (data: Undo, onProgress: (remaining: number) => void): Promise<void> {
  const failure = await restore(data, data.memories, onProgress)
  if (failure !== undefined) throw failure
}

/**
 * Restores some of the memories, in halves if they are too many for one request.
 * @returns the error of a memory that the server refuses by itself, which does not prevent the others
 */
async function restore (
  data: Undo, memories: readonly Memory[], onProgress: (remaining: number) => void,
): Promise<Error | undefined> {
  if (memories.length === 1 || memories.reduce((sum, { text }) => sum + text.length, 0) <= MAX_CHARACTERS) {
    try {
      await store(data, memories)
      data.memories = data.memories.filter((memory) => !memories.includes(memory))
      onProgress(data.memories.length)
      return undefined
    } catch (error) {
      if (!isRefusal(error)) throw error
      if (memories.length === 1) return error
    }
  }
  const middle = Math.ceil(memories.length / 2)
  const first = await restore(data, memories.slice(0, middle), onProgress)
  const second = await restore(data, memories.slice(middle), onProgress)
  return first ?? second
}

/** Whether the server refuses a request for its size, for the number of its memories, or for one of them. */
function isRefusal (error: unknown): error is MemoryGatewayError {
  return error instanceof MemoryGatewayError && (error.status === 400 || error.status === 413)
}

async function store ({ bank, isComplete }: Undo, memories: readonly Memory[]): Promise<void> {
  if (isComplete) {
    await client.value.importBank({ bank_id: bank, lines: [HEADER, ...memories] })
    return
  }
  const unexpired = memories.filter(({ expires_at: at }) => at === null || Date.parse(at) > Date.now())
  if (unexpired.length > 0) await client.value.retainBatch({ bank_id: bank, items: unexpired.map(itemOf) })
}

function itemOf ({ text, tags, metadata, source, ...rest }: Memory): RetainItem {
  const { occurred_at: occurred, document_id: document, expires_at: expires } = rest
  const { valid_from: from, valid_until: until } = rest
  return {
    content: text,
    metadata,
    ...(tags.length > 0 && { tags }),
    ...(occurred !== null && { occurred_at: occurred }),
    ...(document !== null && { document_id: document }),
    ...(source !== null && { source }),
    ...(expires !== null && { expires_at: expires }),
    ...(from !== undefined && { valid_from: from }),
    ...(until !== undefined && { valid_until: until }),
  }
}
