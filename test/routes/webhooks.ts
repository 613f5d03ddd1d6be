import { createHmac } from 'node:crypto'
import type { LightMyRequestResponse } from 'fastify'
import type { SourceConfig } from '../../lib/config/schema.js'
import type { TestApp } from '../helpers/app.js'

export const SECRET = 'the secret of the sender'

/** The instant of a test's clock at its start, in Unix seconds. */
export const NOW = Date.parse('2026-01-15T10:00:00Z') / 1000

/** HMAC-SHA256 in hex of what a sender signs. */
export function signatureOf (signed: string | Buffer, secret = SECRET): string {
  return createHmac('sha256', secret).update(signed).digest('hex')
}

/** A webhook of the bank `inbox` that anybody may send to. */
export function openSource (more: Partial<SourceConfig> = {}): SourceConfig {
  return { type: 'webhook', target_bank: 'inbox', auth: { type: 'none' }, ...more }
}

export function signedSource (auth: { header?: string, timestamp_header?: string } = {}): SourceConfig {
  return { type: 'webhook', target_bank: 'inbox', auth: { type: 'hmac', secret: SECRET, ...auth } }
}

/** POST of an event as it is on the wire. */
export async function send (
  { inject }: TestApp, source: string, payload: string | Buffer, headers: Record<string, string> = {},
): Promise<LightMyRequestResponse> {
  return await inject({
    method: 'POST',
    url: `/v1/ingest/webhook/${source}`,
    headers: { 'content-type': 'application/json', ...headers },
    payload,
  })
}

export async function sendJson (app: TestApp, source: string, event: unknown): Promise<LightMyRequestResponse> {
  return await send(app, source, JSON.stringify(event))
}

/** The memory that an accepted event became. */
export async function memoryOf ({ get }: TestApp, response: LightMyRequestResponse): Promise<Record<string, unknown>> {
  if (response.statusCode !== 200) throw new Error(`the source answered ${response.statusCode}: ${response.body}`)
  const { bank_id: bank, memory_id: id } = response.json<Record<string, string>>()
  return (await get(`/v1/banks/${bank}/memories/${id}`)).json()
}
