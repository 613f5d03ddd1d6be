import type { LightMyRequestResponse } from 'fastify'
import type { TestApp } from '../helpers/app.js'

/** The first line of an export, as an import needs it. */
export const HEADER = { format: 'memory-gateway-export', version: 1 }

/** Objects as NDJSON; a string is taken as the line itself. */
export function ndjson (...lines: unknown[]): string {
  return lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('')
}

/** POST of an import; `bank` may be followed by a query string. */
export async function importInto (
  { inject }: TestApp, bank: string, payload: string | Buffer, headers: Record<string, string> = {},
): Promise<LightMyRequestResponse> {
  const [bankId, query] = bank.split('?') as [string, string?]
  return await inject({
    method: 'POST',
    url: `/v1/banks/${bankId}/import${query === undefined ? '' : `?${query}`}`,
    headers: { 'content-type': 'application/x-ndjson', ...headers },
    payload,
  })
}

/** The lines of an export that has to succeed, parsed: the header, then the memories. */
export async function exportOf (
  { get }: TestApp, bankId: string,
): Promise<[header: Record<string, unknown>, ...memories: Array<Record<string, unknown>>]> {
  const response = await get(`/v1/banks/${bankId}/export`)
  if (response.statusCode !== 200) throw new Error(`export answered ${response.statusCode}: ${response.body}`)
  const lines = response.body.split('\n')
  if (lines.pop() !== '') throw new Error('the last line has no line feed')
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>) as [Record<string, unknown>]
}
