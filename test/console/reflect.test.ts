import t from 'tap'
import { answerPartsOf, countCitations } from '../../console/src/pages/reflect/citations.js'
import { EMPTY_FORM, requestOf, type ReflectFormValues } from '../../console/src/pages/reflect/request.js'
import { fromLocalInput } from '../../console/src/text/local-time.js'

t.test('only marks that name a source are marks of an answer', async (t) => {
  t.same(answerPartsOf('Tea. [1] Both [2][1]', 2), ['Tea. ', 1, ' Both ', 2, 1])
  t.same(answerPartsOf('[0] [3] [x] [01]', 2), ['[0] [3] [x] ', 1])
  t.same(answerPartsOf('', 2), [])
  t.same(answerPartsOf('Tea. [1]', 0), ['Tea. [1]'])
  t.same([...countCitations(['a', 1, 2, 1])], [[1, 2], [2, 1]])
})

t.test('the fields become a request, or a message about what is missing', async (t) => {
  const values: ReflectFormValues = { ...EMPTY_FORM, bank: 'team', query: ' Tea? ' }
  t.same(requestOf(values), { request: { bank_id: 'team', query: 'Tea?' } })
  t.same(requestOf({ ...values, query: ' ' }), { missing: 'query' })
  for (const schema of ['{', '[]', 'null', '"a"']) {
    t.same(requestOf({ ...values, hasSchema: true, schema }), { missing: 'schema' })
  }
  const all = requestOf({
    ...values,
    moreBanks: 'user-bob, team',
    tags: 'a b, c,, a b',
    tagsMatch: 'all',
    minTrust: 'trusted',
    state: 'all',
    validAt: '2025-01-02T03:04',
    asOf: '2026-01-02T03:04',
    maxTokens: '100',
    instructions: 'Be brief.',
    hasSchema: true,
    schema: '{"type": "object"}',
  })
  t.same(all, {
    request: {
      banks: ['team', 'user-bob'],
      query: 'Tea?',
      tags: ['a b', 'c'],
      tags_match: 'all',
      min_trust: 'trusted',
      state: 'all',
      valid_at: fromLocalInput('2025-01-02T03:04'),
      as_of: fromLocalInput('2026-01-02T03:04'),
      max_tokens: 100,
      instructions: 'Be brief.',
      response_schema: { type: 'object' },
    },
  })
})
