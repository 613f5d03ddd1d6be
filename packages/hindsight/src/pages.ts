import {
  MemoryGatewayError, type ListMemoriesRequest, type Memory, type MemoryGatewayClient,
} from 'memory-gateway-client'
import { Type } from 'typebox'
import { unsupported } from './gateway.js'

export const DEFAULT_PAGE = 100
export const pageFields = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  offset: Type.Optional(Type.Integer({ minimum: 0 })),
}

/** The most memories that one request reads, which is as many as a table of documents or a filtered list looks at. */
const MAX_READ = 10_000
const PAGE = 200

/** The memories of a list, newest first. Pages of long texts, which would be too large an answer, are made smaller. */
export async function * memoriesOf (
  client: MemoryGatewayClient, { offset, ...request }: ListMemoriesRequest,
): AsyncGenerator<Memory, void> {
  let limit = PAGE
  let from: { offset?: number, cursor?: string } = offset === undefined ? {} : { offset }
  for (let read = 0; ;) {
    try {
      const { value: page } = await client.listMemories({ ...request, ...from, limit }).pages().next()
      if (page === undefined) return
      read += page.memories.length
      if (read > MAX_READ) throw tooLong()
      yield * page.memories
      if (page.next_cursor === null) return
      from = { cursor: page.next_cursor }
    } catch (error) {
      if (!(error instanceof MemoryGatewayError && error.code === 'answer_too_large') || limit === 1) throw error
      limit = Math.ceil(limit / 4)
    }
  }
}

export async function totalOf (client: MemoryGatewayClient, request: ListMemoriesRequest): Promise<number> {
  const { value: page } = await client.listMemories({ ...request, limit: 1, total: true }).pages().next()
  return page?.total?.count ?? 0
}

function tooLong () {
  return unsupported(
    `more than ${MAX_READ} memories`,
    'an answer that has to read so many is not given; GET /v1/banks/{bank_id}/memories has cursors instead',
  )
}
