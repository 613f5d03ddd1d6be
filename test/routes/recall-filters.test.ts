import t from 'tap'
import { testApp } from '../helpers/app.js'
import { hitsOf, refusedFields } from './support.js'

/** Every memory matches the query in every strategy, so that only filters tell them apart. */
const MEMORIES: Record<string, { retained: string, more: Record<string, unknown> }> = {
  plain: { retained: '2026-01-01T00:00:00Z', more: {} },
  tagged: { retained: '2026-01-02T00:00:00Z', more: { tags: ['a'], occurred_at: '2025-06-01T00:00:00Z' } },
  both: {
    retained: '2026-01-03T00:00:00Z',
    more: { tags: ['a', 'b'], metadata: { n: 1, flag: true, none: null }, occurred_at: '2025-07-01T00:00:00Z' },
  },
  text: {
    retained: '2026-01-04T00:00:00Z',
    more: { tags: ['b'], metadata: { n: '1', flag: true }, occurred_at: '2025-08-01T00:00:00Z' },
  },
  cased: { retained: '2026-01-05T00:00:00Z', more: { tags: ['A'], metadata: { N: 1 } } },
}

const cases: Array<[filters: Record<string, unknown>, expected: string[]]> = [
  [{}, ['plain', 'tagged', 'both', 'text', 'cased']],
  [{ tags_match: 'all' }, ['plain', 'tagged', 'both', 'text', 'cased']],
  [{ tags: null, tags_match: 'all' }, ['plain', 'tagged', 'both', 'text', 'cased']],
  [{ tags: ['a'] }, ['tagged', 'both']],
  [{ tags: ['a', 'b'] }, ['tagged', 'both', 'text']],
  [{ tags: ['a', 'b'], tags_match: 'any' }, ['tagged', 'both', 'text']],
  [{ tags: ['a', 'b'], tags_match: 'all' }, ['both']],
  [{ tags: ['a', 'a'], tags_match: 'all' }, ['tagged', 'both']],
  [{ tags: ['a', 'z'], tags_match: 'all' }, []],
  [{ tags: ['z'] }, []],
  [{ metadata: { n: 1 } }, ['both']],
  [{ metadata: { n: '1' } }, ['text']],
  [{ metadata: { flag: true } }, ['both', 'text']],
  [{ metadata: { flag: true, n: 1 } }, ['both']],
  [{ metadata: { flag: false } }, []],
  [{ metadata: { none: null } }, ['both']],
  [{ metadata: { absent: null } }, []],
  [{ metadata: { toString: 'x' } }, []],
  [{ metadata: {} }, ['plain', 'tagged', 'both', 'text', 'cased']],
  [{ occurred_after: '2025-07-01T00:00:00Z' }, ['both', 'text']],
  [{ occurred_after: '2025-07-01T00:00:00.001Z' }, ['text']],
  [{ occurred_before: '2025-07-01T00:00:00Z' }, ['tagged']],
  [{ occurred_before: '2025-07-01T00:00:00.001Z' }, ['tagged', 'both']],
  [{ occurred_after: '2025-07-01T02:00:00+02:00', occurred_before: '2025-08-01T00:00:00Z' }, ['both']],
  [{ occurred_after: '2025-08-01T00:00:00Z', occurred_before: '2025-07-01T00:00:00Z' }, []],
  [{ occurred_after: '1900-01-01T00:00:00Z' }, ['tagged', 'both', 'text']],
  [{ occurred_before: '2999-01-01T00:00:00Z' }, ['tagged', 'both', 'text']],
  [{ as_of: '2026-01-02T00:00:00Z' }, ['plain', 'tagged']],
  [{ as_of: '2026-01-01T23:59:59.999Z' }, ['plain']],
  [{ as_of: '2025-12-31T23:59:59.999Z' }, []],
  [
    { tags: ['a'], metadata: { flag: true }, occurred_after: '2025-01-01T00:00:00Z', as_of: '2026-01-03T00:00:00Z' },
    ['both'],
  ],
  [{ tags: ['a'], as_of: '2026-01-01T00:00:00Z' }, []],
]

const strategies = {
  'the lexical strategy': { lexical: 1, semantic: 0 },
  'the semantic strategy': { lexical: 0, semantic: 1 },
  'both strategies': { lexical: 1, semantic: 1 },
}

for (const [strategy, weights] of Object.entries(strategies)) {
  await t.test(`with ${strategy}`, async (t) => {
    const { post, retain, clock } = await testApp(t, { file: { retrieval: { weights } } })
    for (const [label, { retained, more }] of Object.entries(MEMORIES)) {
      clock.set(retained)
      await retain('bank', `${label} weather report`, more)
    }
    for (const [filters, expected] of cases) {
      await t.test(`${JSON.stringify(filters)} lets through ${expected.join(', ') || 'nothing'}`, async (t) => {
        const response = await post('/v1/recall', { bank_id: 'bank', query: 'weather report', ...filters })
        t.same(hitsOf(response).map((hit) => hit.text.split(' ')[0]).sort(), [...expected].sort())
        t.equal(response.json().total_available, expected.length)
      })
    }
    await t.test('total_available counts what passes the filters, however few hits are asked for', async (t) => {
      const answer = (await post('/v1/recall', {
        bank_id: 'bank', query: 'weather', tags: ['a', 'b'], max_results: 1,
      })).json()
      t.equal(answer.hits.length, 1)
      t.equal(answer.total_available, 3)
    })
  })
}

const wrong: Array<[field: string, filters: Record<string, unknown>]> = [
  ['tags', { tags: [] }],
  ['tags', { tags: 'a' }],
  ['tags[0]', { tags: ['t'.repeat(129)] }],
  ['tags', { tags: Array.from({ length: 101 }, (_, index) => `t${index}`) }],
  ['tags_match', { tags: ['a'], tags_match: 'some' }],
  ['metadata.a', { metadata: { a: { b: 1 } } }],
  ['occurred_after', { occurred_after: '2025-07-01T00:00:00' }],
  ['occurred_before', { occurred_before: '2025-07-01' }],
  ['as_of', { as_of: 'yesterday' }],
  ['as_of', { as_of: 1767225600 }],
  ['reference_time', { reference_time: 'yesterday' }],
  ['reference_time', { reference_time: 1767225600 }],
]

await t.test('filters that are malformed are refused by name', async (t) => {
  const { post } = await testApp(t)
  for (const [field, filters] of wrong) {
    await t.test(JSON.stringify(filters).slice(0, 80), async (t) => {
      refusedFields(t, await post('/v1/recall', { bank_id: 'bank', query: 'weather', ...filters }), field)
    })
  }
})
