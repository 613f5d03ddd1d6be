import t from 'tap'
import { testApp } from '../helpers/app.js'

const { post, get, retain, clock } = await testApp(t)

const STANDING = {
  content: 'Alice drinks caf\u00e9 au lait.',
  tags: ['drink', 'alice'],
  document_id: 'chat',
  occurred_at: '2025-05-01T08:00:00Z',
}
const PLAIN = { content: 'Bob walks.' }

interface Pair {
  first?: Record<string, unknown>
  second: Record<string, unknown>
}

const repeats: Record<string, Pair> = {
  'the very same request': { second: STANDING },
  'white space around and between words': {
    second: { ...STANDING, content: '  Alice \n drinks\tcaf\u00e9   au lait. ' },
  },
  'the same characters in another normal form': {
    second: { ...STANDING, content: 'Alice drinks cafe\u0301 au lait.' },
  },
  'tags in another order': { second: { ...STANDING, tags: ['alice', 'drink'] } },
  'a tag twice': { second: { ...STANDING, tags: ['alice', 'drink', 'alice'] } },
  'the same instant in another offset': { second: { ...STANDING, occurred_at: '2025-05-01T10:00:00.000+02:00' } },
  'other metadata, source and expiry': {
    second: { ...STANDING, metadata: { a: 1 }, source: 'elsewhere', expires_at: '2030-01-01T00:00:00Z' },
  },
  'null where a field was absent': {
    first: PLAIN, second: { ...PLAIN, tags: null, document_id: null, occurred_at: null },
  },
}

for (const [index, [what, { first = STANDING, second }]] of Object.entries(repeats).entries()) {
  await t.test(`${what} makes an exact repeat`, async (t) => {
    const bank = { bank_id: `repeat-${index}` }
    const standing = (await post('/v1/retain', { ...bank, ...first })).json()
    t.same((await post('/v1/retain', { ...bank, ...second })).json(), {
      ...bank, stored: false, deduplicated: true, memory_id: standing.memory_id, chunk_count: 1,
    })
    t.equal((await get(`/v1/banks/${bank.bank_id}`)).json().memory_count, 1)
  })
}

const others: Record<string, Pair> = {
  'content in another case': { second: { ...STANDING, content: 'alice drinks caf\u00e9 au lait.' } },
  'one tag less': { second: { ...STANDING, tags: ['alice'] } },
  'no tags': { second: { ...STANDING, tags: undefined } },
  'another document': { second: { ...STANDING, document_id: 'mail' } },
  'no document': { second: { ...STANDING, document_id: undefined } },
  'another time': { second: { ...STANDING, occurred_at: '2025-05-01T08:00:00.001Z' } },
  'no time': { second: { ...STANDING, occurred_at: undefined } },
  'a document where there was none': { first: PLAIN, second: { ...PLAIN, document_id: 'chat' } },
  'a time where there was none': { first: PLAIN, second: { ...PLAIN, occurred_at: '1970-01-01T00:00:00Z' } },
  'another bank': { second: { ...STANDING, bank_id: 'another' } },
}

for (const [index, [what, { first = STANDING, second }]] of Object.entries(others).entries()) {
  await t.test(`${what} makes another memory`, async (t) => {
    const bank = { bank_id: `other-${index}` }
    const standing = (await post('/v1/retain', { ...bank, ...first })).json()
    const answer = (await post('/v1/retain', { ...bank, ...second })).json()
    t.match(answer, { stored: true, deduplicated: false })
    t.not(answer.memory_id, standing.memory_id)
  })
}

await t.test('a repeat does not change the stored memory', async (t) => {
  const id = await retain('unchanged', 'Keep me.', { metadata: { version: 1 } })
  await retain('unchanged', 'Keep me.', { metadata: { version: 2 }, source: 'later' })
  t.match((await get(`/v1/banks/unchanged/memories/${id}`)).json(), { metadata: { version: 1 }, source: null })
})

await t.test('of simultaneous equal requests one is stored', async (t) => {
  const answers = await Promise.all(Array.from({ length: 10 }, async () => (
    (await post('/v1/retain', { bank_id: 'race', content: 'Now.' })).json()
  )))
  t.equal(answers.filter((answer) => answer.stored === true).length, 1)
  t.equal(new Set(answers.map((answer) => answer.memory_id)).size, 1)
  t.equal((await get('/v1/banks/race')).json().memory_count, 1)
})

await t.test('a forgotten memory can be retained again', async (t) => {
  const first = await retain('again', 'Once more.')
  await post('/v1/forget', { bank_id: 'again', memory_ids: [first] })
  t.not(await retain('again', 'Once more.'), first)
})

await t.test('an expired memory can be retained again', async (t) => {
  const first = await retain('expired', 'For a minute.', { expires_at: '2026-01-15T10:01:00Z' })
  clock.advance(60_000)
  t.not(await retain('expired', 'For a minute.'), first)
  t.equal((await get('/v1/banks/expired')).json().memory_count, 1)
})
