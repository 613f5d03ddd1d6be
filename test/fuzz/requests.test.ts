import fc, { runs, SEED } from '../helpers/fast-check.js'
import t, { type Test } from 'tap'
import type { AuthMode } from '../../lib/config/config.js'
import type { FileConfig } from '../../lib/config/schema.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { testConfig, type TestConfig } from '../helpers/config.js'
import { startJwksServer } from '../helpers/jwks-server.js'
import { hs256, NOW, rs256, rsaKey, secondsFromNow } from '../helpers/tokens.js'
import { faultOf } from './answers.js'
import { mutatedRequest, randomRequest, toInject, toWire, type Wire } from './requests.js'
import { validRequests } from './valid-requests.js'

/** Of each kind, in each of the four modes. */
const RUNS = runs(250, 1000)
const API_KEY = 'the key that no answer shows'
const SECRET = 'the signing secret that no answer shows'
const ISSUER = 'https://id.example.test/'
const AUDIENCE = 'api://memory'

const FILE: FileConfig = {
  banks: {
    limited: {
      homeostasis: { rate_limits: { retain_per_minute: 1, recall_per_minute: 1 }, quotas: { reflect_per_day: 1 } },
    },
  },
  barriers: { metadata: { blocked_keys: ['password'] } },
  sources: {
    hook: { type: 'webhook', target_bank: 'user-bob', principal: 'user:bob', auth: { type: 'none' } },
    signed: {
      type: 'webhook', target_bank: 'user-bob', auth: { type: 'hmac', secret: SECRET, timestamp_header: 'X-Timestamp' },
    },
  },
}
const GUARDED: FileConfig = {
  ...FILE,
  access_control: { enabled: true, default_policy: 'owner_only' },
  access_grants: [{ bank_id: 'limited', principal: 'user:bob', permissions: ['*'] }],
  identity: { obo_enabled: true },
}

interface Subject extends TestApp {
  credentials: Record<string, string>
}

/** A gateway whose configuration can be read again. */
async function gateway (t: Test, config: TestConfig): Promise<TestApp> {
  return await testApp(t, config, {}, { reloadConfig: () => testConfig(config) })
}

/** A gateway in each mode, half of them under access control, and the headers that let `user:bob` in. */
const SUBJECTS: Record<AuthMode, (t: Test) => Promise<Subject>> = {
  dev: async (t) => ({ ...await gateway(t, { file: FILE }), credentials: { 'x-service-principal': 'user:bob' } }),
  api_key: async (t) => ({
    ...await gateway(t, {
      auth: { mode: 'api_key', apiKey: API_KEY }, adminToken: SECRET, maxBodyBytes: 16_384, file: GUARDED,
    }),
    credentials: { 'x-api-key': API_KEY, 'x-service-principal': 'user:bob', 'x-admin-token': SECRET },
  }),
  jwt_hs256: async (t) => ({
    ...await gateway(t, { auth: { mode: 'jwt_hs256', jwtSecret: SECRET }, file: FILE }),
    credentials: { authorization: `Bearer ${hs256({ sub: 'user:bob', exp: secondsFromNow(3600) }, SECRET)}` },
  }),
  jwt_oidc: async (t) => {
    const key = rsaKey('k1')
    const server = await startJwksServer(key)
    t.teardown(async () => { await server.close() })
    return {
      ...await gateway(t, {
        auth: { mode: 'jwt_oidc', oidcJwksUrl: server.url, oidcIssuer: ISSUER, oidcAudience: AUDIENCE }, file: GUARDED,
      }),
      credentials: {
        authorization: `Bearer ${rs256({ sub: 'bob', iss: ISSUER, aud: AUDIENCE, exp: secondsFromNow(3600) }, key)}`,
      },
    }
  },
}

for (const [index, [mode, start]] of Object.entries(SUBJECTS).entries()) {
  t.test(`in mode ${mode} the answer to any request satisfies the contract`, async (t) => {
    const subject = await start(t)
    subject.clock.set(new Date(NOW).toISOString())
    const valid = validRequests(subject.app)
    // Faults of the Model Context Protocol have a form of their own.
    const paths = [...new Set(subject.app.routeTable.map(({ url }) => url))].filter((url) => (
      !/^\/(?:docs|mcp)/.test(url)
    ))
    const statuses = new Map<number, number>()
    const answer = async (wire: Wire, credentials: Record<string, string>) => {
      const response = await subject.inject(toInject(wire, credentials))
      statuses.set(response.statusCode, (statuses.get(response.statusCode) ?? 0) + 1)
      return response
    }
    const sound = async (wire: Wire, credentials: Record<string, string>) => {
      const fault = faultOf(await answer(wire, credentials), wire)
      if (fault !== undefined) throw new Error(fault)
    }

    await t.test('a valid request on every route is accepted', async (t) => {
      for (const parts of valid) {
        const wire = toWire(parts)
        const response = await answer(wire, subject.credentials)
        const isMissing = response.statusCode === 404 && /memory_id|proposal_id|admin/.test(parts.path)
        const finds = response.statusCode === 200 || isMissing
        t.ok(finds, `${wire.method} ${wire.url} answered ${response.statusCode} ${finds ? '' : response.body}`)
      }
    })

    await t.test('a random request', async () => {
      await fc.assert(fc.asyncProperty(randomRequest(paths), fc.boolean(), async (wire, known) => {
        await sound(wire, known ? subject.credentials : {})
      }), { seed: SEED + index, numRuns: RUNS })
    })

    await t.test('a mutated valid request', async () => {
      await fc.assert(fc.asyncProperty(mutatedRequest(valid), async (wire) => {
        await sound(wire, subject.credentials)
      }), { seed: SEED + index, numRuns: RUNS })
    })

    t.same(subject.log.filter((line) => (line['level'] as number) >= 50), [], 'nothing was logged as a fault')
    t.notMatch(JSON.stringify(subject.log), new RegExp(`${API_KEY}|${SECRET}`), 'no secret was logged')
    for (const status of [200, 400, 404, 405, 415]) {
      t.ok(statuses.has(status), `${status} came up ${statuses.get(status) ?? 0} times`)
    }
    t.comment(JSON.stringify(Object.fromEntries(statuses)))
  })
}
