import t, { type Test } from 'tap'
import { startJwksServer } from '../helpers/jwks-server.js'
import { NOW, rs256, rsaKey, secondsFromNow } from '../helpers/tokens.js'
import { Gateway, type Ask } from './gateway.js'
import { BANKS, CALLERS, DELEGATED, DELEGATED_FILE, GRANT_KINDS, MATRIX, POLICIES, type Settings } from './matrix.js'
import { PROTOCOL_OPERATIONS } from './protocol-operations.js'
import { missingPermission } from './operation.js'
import { OPERATIONS, ROUTE_OPERATIONS } from './operations.js'
import { rightsOf } from './oracle.js'

/** Of the operations over other protocols, one in this many is tried in each cell of the matrix. */
const PROTOCOL_OPERATION_INTERVAL = 7
const API_KEY = 'the key of the matrix'

function start (t: Test, mode: Settings['mode'], file: Settings['file']): Promise<Gateway> {
  return Gateway.start(t, file, { auth: mode === 'dev' ? { mode } : { mode, apiKey: API_KEY } })
}

function as (caller: string | undefined, mode: Settings['mode']): Ask {
  return {
    headers: {
      ...(mode === 'api_key' && { 'x-api-key': API_KEY }),
      ...(caller !== undefined && { 'x-service-principal': caller }),
    },
    named: `Principal '${caller}'`,
  }
}

t.test('every operation is allowed exactly where the matrix allows it', async (t) => {
  let rows = 0
  let turn = 0
  for (const { name, mode, file, cells } of MATRIX) {
    await t.test(name, async (t) => {
      const gateway = await start(t, mode, file)
      const wrong: string[] = []
      for (const [caller, bank, rights] of cells) {
        const ask = as(caller, mode)
        // The operations over other protocols take turns: each is tried several times in every mode.
        const overProtocols =
          PROTOCOL_OPERATIONS.filter((_, index) => (index + turn) % PROTOCOL_OPERATION_INTERVAL === 0)
        turn++
        for (const operation of [...ROUTE_OPERATIONS, ...overProtocols]) {
          wrong.push(...await gateway.check(operation, bank, ask, rights))
          rows++
        }
        wrong.push(...await gateway.checkWhoami(bank, ask, rights), ...await gateway.checkList([[bank, rights]], ask))
        rows += 2
      }
      t.same(wrong, [])
    })
  }
  t.ok(rows > 3500, `${rows} rows`)
})

t.test('the oracle agrees with every line of the matrix', async (t) => {
  const known = MATRIX.filter(({ file }) => file.access_control?.owner_patterns === undefined)
  const wrong = known.flatMap(({ name, file, cells }) =>
    cells.filter(([caller, bank, rights]) => rightsOf(caller, bank, file) !== rights).map((cell) => [name, cell]))
  t.same(wrong, [])
})

t.test('the gateway agrees with the oracle for every policy, kind of grant, caller and bank', async (t) => {
  let turn = 0
  const seen = new Set<string>()
  for (const policy of POLICIES) {
    for (const [kind, grants] of GRANT_KINDS) {
      await t.test(`${policy} with ${kind}`, async (t) => {
        const mode = turn % 2 === 0 ? 'dev' : 'api_key'
        const file = { access_control: { enabled: true, default_policy: policy }, ...grants }
        const gateway = await start(t, mode, file)
        const wrong: string[] = []
        for (const caller of CALLERS) {
          const ask = as(caller, mode)
          wrong.push(...await gateway.checkList(BANKS.map((bank) => [bank, rightsOf(caller, bank, file)]), ask))
          for (const bank of BANKS) {
            const rights = rightsOf(caller, bank, file)
            wrong.push(...await gateway.checkWhoami(bank, ask, rights))
            // The pairs take the operations in turn, so that each operation is tried in every configuration.
            const operation = OPERATIONS[turn++ % OPERATIONS.length]!
            wrong.push(...await gateway.check(operation, bank, ask, rights))
            seen.add(`${operation.name} ${missingPermission(operation, rights) === undefined}`)
          }
        }
        turn++
        t.same(wrong, [])
      })
    }
  }
  t.equal(seen.size, 2 * OPERATIONS.length, 'every operation was both allowed and denied')
})

t.test('a recall or reflect of several banks needs read on each, and is refused by the first without it', async (t) => {
  const gateway = await start(t, 'dev', {
    access_control: { enabled: true, default_policy: 'deny' },
    access_grants: [
      { bank_id: 'team-*', principal: 'user:bob', permissions: ['read'] },
      { bank_id: 'inbox', principal: 'user:bob', permissions: ['write', 'forget', 'admin'] },
    ],
  })
  const rows: Array<[banks: string[], denied: string | undefined]> = [
    [['team-a'], undefined], [['team-a', 'team-b'], undefined], [['team-a', 'inbox'], 'inbox'],
    [['inbox', 'team-a'], 'inbox'],
    [['team-a', 'other', 'inbox'], 'other'], [['team-a', 'inbox', 'other'], 'inbox'],
    [Array.from({ length: 63 }, (_, index) => `team-${index}`).concat('team'), 'team'],
  ]
  for (const [banks, denied] of rows) {
    for (const path of ['recall', 'reflect']) {
      const { status, body } = await gateway.ask(
        'POST', `/v1/${path}`, as('user:bob', 'dev'), { banks, query: 'otter' },
      )
      t.equal(status, denied === undefined ? 200 : 403, `${path} of ${banks.slice(0, 3).join()}`)
      if (denied !== undefined) t.equal(body['detail'], `Principal 'user:bob' is denied 'read' on bank '${denied}'`)
    }
  }
})

t.test('a caller on behalf of another may do only what both may', async (t) => {
  const key = rsaKey('k1')
  const server = await startJwksServer(key)
  t.teardown(async () => { await server.close() })
  const gateway = await Gateway.start(t, DELEGATED_FILE, {
    auth: {
      mode: 'jwt_oidc', oidcJwksUrl: server.url, oidcIssuer: 'https://id.example.test/', oidcAudience: 'api://memory',
    },
  }, { clock: () => NOW })
  const token = (claims: Record<string, unknown>) => (
    `Bearer ${rs256(
      { iss: 'https://id.example.test/', aud: 'api://memory', exp: secondsFromNow(600), ...claims }, key,
    )}`
  )
  const wrong: string[] = []
  for (const [caller, onBehalfOf, bank, rights] of DELEGATED) {
    const named = `Principal '${caller}'${onBehalfOf === undefined ? '' : ` on behalf of '${onBehalfOf}'`}`
    const asks: Ask[] = [
      {
        named,
        headers: {
          authorization: token({ sub: 'x', service_principal: caller }),
          ...(onBehalfOf !== undefined && { 'x-service-on-behalf-of': onBehalfOf }),
        },
      },
    ]
    if (onBehalfOf !== undefined) {
      asks.push({
        named, headers: { authorization: token({ sub: 'x', service_principal: onBehalfOf, act: { sub: caller } }) },
      })
    }
    for (const ask of asks) {
      for (const operation of OPERATIONS) wrong.push(...await gateway.check(operation, bank, ask, rights))
      wrong.push(...await gateway.checkWhoami(bank, ask, rights), ...await gateway.checkList([[bank, rights]], ask))
    }
  }
  t.same(wrong, [])
})
