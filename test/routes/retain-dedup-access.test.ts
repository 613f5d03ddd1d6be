import t from 'tap'
import { testApp } from '../helpers/app.js'
import { answerOf, connectMcp } from '../helpers/mcp.js'
import { putConfig } from './bank-configs.js'
import { dedupConfig, NEAR_DUPLICATE, retain, retainBatch, TEXT } from './retain-dedup-support.js'
import { as } from './support.js'

const ADMIN = as('user:admin')
const WRITER = as('user:writer')
const READER = as('user:reader')
const KEY = { 'idempotency-key': 'k' }

for (const action of ['skip', 'warn', 'update'] as const) {
  t.test(`${action}: only callers who may read learn how similar a text is to others of the bank`, async (t) => {
    const app = await testApp(t, {
      file: {
        ...dedupConfig(action),
        access_control: { enabled: true, default_policy: 'deny' },
        access_grants: [{ bank_id: 'home', principal: 'user:admin', permissions: ['*'] }],
      },
    })
    const grant = async (permissions: object) => {
      await putConfig(app, 'home', {
        access: Object.entries(permissions).map(([principal, granted]) => ({ principal, permissions: granted })),
      }, ADMIN)
    }
    await grant({ 'user:writer': ['write'], 'user:reader': ['read', 'write'] })
    await retain(app, TEXT, {}, ADMIN)
    const decided = { stored: action !== 'skip', deduplicated: action === 'skip' }

    const seen = await retain(app, NEAR_DUPLICATE, {}, { ...READER, ...KEY })
    t.match(seen, { ...decided, near_duplicate: { similarity: Number } })
    t.strictSame(await retain(app, NEAR_DUPLICATE, {}, { ...READER, ...KEY }), seen, 'a repeat has the same answer')
    const [inBatch] = await retainBatch(app, [`${NEAR_DUPLICATE} early`], READER)
    t.match(inBatch, { near_duplicate: { similarity: Number } })

    for (const headers of [WRITER, { ...WRITER, ...KEY }, { ...WRITER, ...KEY }]) {
      const answer = await retain(app, `${NEAR_DUPLICATE} today`, {}, headers)
      t.type(answer.memory_id, 'string')
      t.notOk('near_duplicate' in answer)
    }
    for (const answer of await retainBatch(app, [`${NEAR_DUPLICATE} again`, `${TEXT} alone`], WRITER)) {
      t.type(answer.memory_id, 'string')
      t.notOk('near_duplicate' in answer)
    }
    const client = await connectMcp(t, app.app, { headers: WRITER })
    const told = await client.callTool({ name: 'retain', arguments: { bank_id: 'home', content: `${TEXT} now` } })
    t.type(answerOf(told)['memory_id'], 'string')
    t.notMatch(JSON.stringify(told), /similar|near_duplicate/)

    await grant({ 'user:writer': ['write'], 'user:reader': ['write'] })
    const repeated = await retain(app, NEAR_DUPLICATE, {}, { ...READER, ...KEY })
    t.equal(repeated.memory_id, seen.memory_id)
    t.notOk('near_duplicate' in repeated, 'a repeat has it only while the caller may read')
  })
}
