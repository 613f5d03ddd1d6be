import type { LightMyRequestResponse } from 'fastify'
import type { Test } from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { startJwksServer } from '../helpers/jwks-server.js'
import { NOW, rs256, rsaKey, secondsFromNow } from '../helpers/tokens.js'

const ISSUER = 'https://id.example.test/'
const AUDIENCE = 'api://memory'
const key = rsaKey('k1')

/** One principal, as a member of one tenant. */
export interface Member {
  get (path: string): Promise<LightMyRequestResponse>
  post (path: string, body: unknown, headers?: Record<string, string>): Promise<LightMyRequestResponse>
  /** A retain that has to succeed. */
  retain (
    bankId: string, content: string, more?: Record<string, unknown>,
  ): Promise<{ stored: boolean, memory_id: string }>
  /** What a recall finds, texts only. */
  recall (bankId: string, query: string): Promise<string[]>
}

export interface Tenants {
  app: TestApp
  /** `user:bob` of a tenant; undefined means without a tenant. */
  of (tenant: unknown, claims?: Record<string, unknown>): Member
}

/** A gateway in jwt_oidc mode, and members of any tenant. */
export async function tenants (t: Test, file: FileConfig = {}): Promise<Tenants> {
  const server = await startJwksServer(key)
  t.teardown(async () => { await server.close() })
  const app = await testApp(t, {
    logLevel: 'silent',
    auth: { mode: 'jwt_oidc', oidcJwksUrl: server.url, oidcIssuer: ISSUER, oidcAudience: AUDIENCE },
    file,
  })
  app.clock.set(new Date(NOW).toISOString())
  return {
    app,
    of: (tenant, claims = {}) => member(app, { sub: 'bob', ...(tenant !== undefined && { tid: tenant }), ...claims }),
  }
}

function member (app: TestApp, claims: Record<string, unknown>): Member {
  const headers = {
    authorization: `Bearer ${rs256({ iss: ISSUER, aud: AUDIENCE, exp: secondsFromNow(86_400 * 30), ...claims }, key)}`,
  }
  const post: Member['post'] = (path, body, more = {}) => app.inject({
    method: 'POST',
    url: `/v1/${path}`,
    headers: {
      'content-type': typeof body === 'string' ? 'application/x-ndjson' : 'application/json', ...headers, ...more,
    },
    payload: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return {
    post,
    get: (path) => app.get(`/v1/${path}`, headers),
    retain: async (bankId, content, more = {}) => {
      const response = await post('retain', { bank_id: bankId, content, ...more })
      if (response.statusCode !== 200) throw new Error(response.body)
      return response.json<{ stored: boolean, memory_id: string }>()
    },
    recall: async (bankId, query) => (
      (await post(
        'recall', { bank_id: bankId, query },
      )).json<{ hits: Array<{ text: string }> }>().hits.map(({ text }) => text)
    ),
  }
}
