import t from 'tap'
import { missingHits, rankChangesOf } from '../../console/src/pages/recall/rank-changes.js'
import {
  extentOf, contributionNames, contributionsOf, segmentsOf,
} from '../../console/src/pages/recall/contributions.js'
import {
  unsupportedByExplain, DEFAULTS, explainRequest, recallRequest,
} from '../../console/src/pages/recall/settings.js'
import { fromLocalInput, toLocalInput } from '../../console/src/text/local-time.js'
import { parseMetadata } from '../../console/src/text/metadata.js'

const hit = (id: string, bank = 'b') => ({ bank_id: bank, memory_id: id })

t.test('the changes of rank between two settings are determined', async (t) => {
  const [before, after] = [['a', 'b', 'c', 'd'].map((id) => hit(id)), ['b', 'a', 'x', 'd'].map((id) => hit(id))]
  t.same(rankChangesOf(before, after), [
    { kind: 'up', by: 1, from: 2 }, { kind: 'down', by: 1, from: 1 }, { kind: 'new' }, { kind: 'same' },
  ])
  t.same(missingHits(before, after), [hit('c')])
  t.same(rankChangesOf([hit('a', 'one')], [hit('a', 'two')]), [{ kind: 'new' }], 'another bank has another memory')
})

t.test('bars stack positive contributions on one side of zero and negative ones on the other', async (t) => {
  const contributions = { lexical: 1, semantic: -0.5 }
  const first = contributionsOf({ scores: { contributions, signals: { match: 0.5, none: 0 } } })
  const second = contributionsOf({ scores: { contributions: { lexical: 0.5 } } })
  t.same(first, [{ name: 'lexical', value: 1 }, { name: 'semantic', value: -0.5 }, { name: 'match', value: 0.5 }])
  t.same(contributionNames([second, first]), ['lexical', 'semantic', 'match'])
  const extent = extentOf([first, second])
  t.same(extent, { min: -0.5, max: 1.5 })
  t.same(segmentsOf(first, extent).map(({ start, width }) => [start, width]), [[0.25, 0.5], [0, 0.25], [0.75, 0.25]])
  t.same(segmentsOf(second, extent).map(({ start, width }) => [start, width]), [[0.25, 0.25]])
  t.same(contributionsOf({}), [])
  t.same(extentOf([]), { min: 0, max: 1 }, 'no bar divides by nothing')
})

t.test('every setting reaches the request, and those that are not set do not', async (t) => {
  t.same(
    recallRequest(['one'], 'tea', { ...DEFAULTS, maxResults: '' }), { query: 'tea', bank_id: 'one', explain: true },
  )
  const all = {
    ...DEFAULTS,
    strategies: 'both' as const,
    maxResults: '5',
    maxTokens: '100',
    minScore: '0.5',
    tags: ['x'],
    tagsMatch: 'all' as const,
    metadata: '{"n":1}',
    occurredAfter: '2026-01-01T00:00:00Z',
    occurredBefore: '2026-02-01T00:00:00Z',
    state: 'history' as const,
    validAt: '2025-03-01T00:00:00Z',
    asOf: '2026-03-01T00:00:00Z',
    referenceTime: '2026-04-01T00:00:00Z',
    minTrust: 'untrusted' as const,
    rewrite: true,
    modelRerank: true,
  }
  const shared = {
    query: 'tea',
    max_results: 5,
    max_tokens: 100,
    min_score: 0.5,
    tags: ['x'],
    tags_match: 'all',
    metadata: { n: 1 },
    occurred_after: '2026-01-01T00:00:00Z',
    occurred_before: '2026-02-01T00:00:00Z',
    state: 'history',
    valid_at: '2025-03-01T00:00:00Z',
    as_of: '2026-03-01T00:00:00Z',
    reference_time: '2026-04-01T00:00:00Z',
    min_trust: 'untrusted',
  }
  t.same(recallRequest(['one', 'two'], 'tea', all), {
    ...shared,
    banks: ['one', 'two'],
    explain: true,
    strategies: ['lexical', 'semantic'],
    rewrite: true,
    model_rerank: true,
  })
  t.same(explainRequest('one', 'tea', 'id', all), { ...shared, bank_id: 'one', expect: 'id' })
  const unsupported = ['the choice of words or meaning', 'other wordings', 'reranking by the language model']
  t.same(unsupportedByExplain(all), unsupported)
  t.same(unsupportedByExplain(DEFAULTS), [])
})

t.test('an instant is converted into the time zone of the reader and back', async (t) => {
  for (const instant of ['2026-01-31T23:59:58Z', '2026-07-01T00:00:00Z', '0099-01-01T12:00:00Z']) {
    t.equal(Date.parse(fromLocalInput(toLocalInput(instant))), Date.parse(instant))
  }
  t.same([toLocalInput(''), toLocalInput('never'), fromLocalInput(''), fromLocalInput('never')], ['', '', '', ''])
})

t.test('metadata is a flat object, and anything else is reported', async (t) => {
  t.same(parseMetadata(' '), { value: undefined })
  t.same(parseMetadata('{"a":1,"b":null,"c":"x","d":true}'), { value: { a: 1, b: null, c: 'x', d: true } })
  for (const wrong of ['{', '[]', '7', 'null', '{"a":{}}', '{"a":[1]}']) {
    t.type(parseMetadata(wrong).error, 'string', wrong)
  }
  const { value = {} } = parseMetadata('{"__proto__": "x"}')
  t.equal(JSON.stringify(value), '{"__proto__":"x"}')
  t.equal(Object.getPrototypeOf(value), Object.prototype)
})
