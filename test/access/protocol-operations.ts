import type { LightMyRequestResponse } from 'fastify'
import { MCP_HEADERS, rpc, toolCall } from '../helpers/mcp.js'
import type { Operation, Outcome } from './operation.js'

/* The same memories through the Model Context Protocol. */

const QUERY = { query: 'Where does the otter sleep on the river?' }
const MESSAGES = { conversation_id: 'talk', messages: [{ role: 'user', content: 'Something new.' }] }

interface McpError {
  message: string
  code: string
  request_id: string
}

interface McpAnswer {
  result?: { isError?: boolean, content?: Array<{ text: string }> }
  error?: { message: string, data?: { code: string, request_id: string } }
}

/** A refusal of a tool is a result, one of a resource or prompt an error of JSON-RPC. */
function mcpOutcome (response: LightMyRequestResponse): Outcome {
  const { result, error } = response.json<McpAnswer>()
  const refusal: Partial<McpError> | undefined = result?.isError === true
    ? (JSON.parse(result.content?.[0]?.text ?? '{}') as { error: McpError }).error
    : error && { message: error.message, ...error.data }
  if (refusal === undefined) return { status: response.statusCode }
  const { message: detail, code, request_id: requestId } = refusal
  return { status: code === 'access_denied' ? 403 : 500, detail, code, requestId }
}

function mcp (
  name: string, needs: string, writes: boolean,
  message: (bank: string, ids: { kept: string, dropped: string }) => object,
): Operation {
  const request: Operation['request'] = (bank, seed) => (
    { method: 'POST', url: '/mcp', headers: MCP_HEADERS, payload: message(bank, seed) }
  )
  return { name: `MCP: ${name}`, needs, writes, outcome: mcpOutcome, request }
}

/** At the address of one bank. */
function pinned (operation: Operation): Operation {
  const request: Operation['request'] = (bank, seed) => (
    { ...operation.request(bank, seed), url: `/mcp/banks/${encodeURIComponent(bank)}` }
  )
  return { ...operation, name: `${operation.name}, pinned`, request }
}

const bankUri = (bank: string) => `memory://banks/${encodeURIComponent(bank)}`

export const PROTOCOL_OPERATIONS: readonly Operation[] = [
  mcp('retain', 'w', true, (bank) => toolCall('retain', { bank_id: bank, content: 'Something new.' })),
  mcp('recall', 'r', false, (bank) => toolCall('recall', { bank_id: bank, ...QUERY })),
  mcp('recall of several banks', 'r', false, (bank) => toolCall('recall', { banks: [bank, bank], ...QUERY })),
  mcp('reflect', 'r', false, (bank) => toolCall('reflect', { bank_id: bank, ...QUERY })),
  mcp('forget', 'f', true, (bank, { dropped }) => toolCall('forget', { bank_id: bank, memory_ids: [dropped] })),
  mcp('forget all', 'a', true, (bank) => toolCall('forget', { bank_id: bank, scope: 'all' })),
  mcp('append messages', 'w', true, (bank) => toolCall('append_messages', { bank_id: bank, ...MESSAGES })),
  mcp('list messages', 'r', false, (bank) => toolCall('list_messages', { bank_id: bank, conversation_id: 'diary' })),
  mcp('list proposals', 'r', false, (bank) => toolCall('list_proposals', { bank_id: bank })),
  mcp('read a bank', 'r', false, (bank) => rpc('resources/read', { uri: bankUri(bank) })),
  mcp('read a memory', 'r', false, (bank, { kept }) => (
    rpc('resources/read', { uri: `${bankUri(bank)}/memories/${kept}` })
  )),
  mcp('a prompt with memories', 'r', false, (bank) => (
    rpc('prompts/get', { name: 'answer_with_memory', arguments: { bank_id: bank, question: QUERY.query } })
  )),
  pinned(mcp('retain', 'w', true, () => toolCall('retain', { content: 'Something new.' }))),
  pinned(mcp('recall', 'r', false, () => toolCall('recall', QUERY))),
  pinned(mcp('reflect', 'r', false, () => toolCall('reflect', QUERY))),
  pinned(mcp('forget', 'f', true, () => toolCall('forget', { tags: ['drop'] }))),
  pinned(mcp('forget all', 'a', true, () => toolCall('forget', { scope: 'all' }))),
  pinned(mcp('append messages', 'w', true, () => toolCall('append_messages', MESSAGES))),
  pinned(mcp('list messages', 'r', false, () => toolCall('list_messages', { conversation_id: 'diary' }))),
  pinned(mcp('list memories', 'r', false, () => rpc('resources/list'))),
  pinned(mcp('read a memory', 'r', false, (bank, { kept }) => (
    rpc('resources/read', { uri: `${bankUri(bank)}/memories/${kept}` })
  ))),
]
