import { Client, StreamableHTTPClientTransport, type CallToolResult } from '@modelcontextprotocol/client'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'

/** The revisions that the gateway speaks: the newest, and one of those with a handshake. */
export const REVISIONS = ['2026-07-28', '2025-11-25'] as const
export type Revision = typeof REVISIONS[number]

export interface ConnectOptions {
  path?: string
  headers?: Record<string, string>
  revision?: Revision
}

/** A client of the revision. The older one begins with the handshake `initialize`. */
export function mcpClient (revision: Revision = '2026-07-28'): Client {
  return new Client({ name: 'test', version: '1.0.0' }, {
    versionNegotiation: { mode: revision === '2026-07-28' ? { pin: revision } : 'legacy' },
  })
}

/** Connects the official client to a gateway over a socket; the gateway listens if it does not yet. */
export async function connectMcp (
  t: Test, app: FastifyInstance, { path = '/mcp', headers = {}, revision }: ConnectOptions = {},
): Promise<Client> {
  const client = mcpClient(revision)
  const url = new URL(path, await addressOf(app))
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }))
  t.teardown(async () => { await client.close() })
  return client
}

export async function addressOf (app: FastifyInstance): Promise<string> {
  const address = app.server.address()
  if (address === null) return await app.listen({ host: '127.0.0.1', port: 0 })
  if (typeof address === 'string') throw new Error('The gateway listens on no port')
  return `http://127.0.0.1:${address.port}`
}

/** The error that a refused tool gives to the model. */
export function refusalOf (result: unknown): Record<string, unknown> {
  const { isError, content } = result as CallToolResult
  const [first] = content
  if (isError !== true || first?.type !== 'text') throw new Error(`not a refusal: ${JSON.stringify(result)}`)
  const { error }: { error: Record<string, unknown> } = JSON.parse(first.text)
  return error
}

/** What a tool answered; an error is none. */
export function answerOf (result: unknown): Record<string, unknown> {
  const { isError, content, structuredContent } = result as CallToolResult
  if (isError === true) throw new Error(`refused: ${JSON.stringify(content)}`)
  return structuredContent as Record<string, unknown>
}

/** The headers of a request without a client. */
export const MCP_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-11-25',
}

/** A request of the revision 2025-11-25. */
export function rpc (method: string, params: object = {}, id: number | string = 1): object {
  return { jsonrpc: '2.0', id, method, params }
}

/** A call of a tool in the revision 2025-11-25. */
export function toolCall (name: string, given: object, id: number | string = 1): object {
  return rpc('tools/call', { name, arguments: given }, id)
}
