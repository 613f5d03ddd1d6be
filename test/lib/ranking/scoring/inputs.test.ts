import t from 'tap'
import { analyzeQuery, rankingInputs } from '../../../helpers/retrieval.js'
import {
  scoreBreakdown, weightedSums, SCORER_NAMES, type ScorerWeights,
} from '../../../../lib/ranking/scoring/scorers.js'
import { SignalReader } from '../../../../lib/ranking/scoring/signals.js'
import type { Candidate } from '../../../../lib/stores/vector-store.js'
import { candidate, DAY, HOME, NOW, only } from '../candidates.js'

const HOUR = 3_600_000

function looked (query: string, ...candidates: Candidate[]) {
  return rankingInputs(candidates, analyzeQuery(query, NOW), new SignalReader())
}

t.test('an empty list has no prospects', async (t) => {
  t.strictSame(looked('kettle'), [])
})

t.test('a memory without a document is a document of its own, and equal ids in two banks are ' +
  'two documents', async (t) => {
  const other = { tenantId: null, bankId: 'other' }
  const alone = looked('kettle', candidate('a', { lexical: 0.4 }), candidate('b', { lexical: 0.2 }))
  t.strictSame(alone.map(({ document }) => document.lexical), [1, 0.5])
  const apart = looked('kettle', candidate('a', { lexical: 0.4, documentId: 'd' }), candidate('b', {
    lexical: 0.2, documentId: 'd', bank: other,
  }))
  t.strictSame(apart.map(({ document }) => document.lexical), [1, 0.5])
  const together = looked('kettle', candidate('a', { lexical: 0.4, documentId: 'd' }), candidate('b', {
    lexical: 0.2, documentId: 'd', bank: HOME,
  }))
  t.strictSame(together.map(({ document }) => document.lexical), [1, 1])
})

t.test('only the best memories of a document count', async (t) => {
  const few = Array.from({ length: 5 }, (_, index) => candidate(`a${index}`, { lexical: 0.4, documentId: 'few' }))
  const many = Array.from({ length: 50 }, (_, index) => candidate(`b${index}`, { lexical: 0.4, documentId: 'many' }))
  t.strictSame(new Set(looked('kettle', ...few, ...many).map(({ document }) => document.lexical)), new Set([1]))
})

t.test('a memory is as close to a time as the nearest of its own time and the times in its text', async (t) => {
  const days = (fields: Parameters<typeof candidate>[1], query = 'What broke on 5 March 2025?') => (
    looked(query, candidate('a', fields))[0]!.timeDistanceDays
  )
  t.equal(days({ occurredAt: Date.UTC(2025, 2, 5, 23) }), 0)
  t.equal(days({ occurredAt: Date.UTC(2025, 2, 3) }), 2)
  t.equal(days({ occurredAt: Date.UTC(2025, 2, 3), text: 'It will break on 5 March 2025.' }), 0)
  t.equal(days({ text: 'It broke on 2025-03-05.' }), 0, 'a time in its text is enough')
  t.equal(
    days({ occurredAt: Date.UTC(2025, 2, 6), text: 'It broke yesterday.' }) > 0, true,
    'relative times are left to the closeness of when it occurred',
  )
  t.equal(days({ text: 'It broke.' }), Infinity, 'the time of the retain does not count')
  t.equal(days({ occurredAt: NOW - 400 * DAY }, 'What broke?'), Infinity)
})

t.test('a time without a year in a text is in the years next to it', async (t) => {
  const days = (query: string, text: string, retainedAt: string) => (
    looked(query, candidate('a', { text, retainedAt: Date.parse(retainedAt) }))[0]!.timeDistanceDays
  )
  t.equal(days('Where did we go in May 2026?', 'We flew to Rome in May.', '2026-11-20T10:00:00Z'), 0)
  t.equal(days('Where do we go in May 2027?', 'We fly to Rome in May.', '2026-11-20T10:00:00Z'), 0)
  t.ok(days('Where did we go in May 2023?', 'We fly to Rome in May.', '2026-11-20T10:00:00Z') > 365)
})

t.test('a day in a text is that of the calendar of the query', async (t) => {
  const days = (utcOffset: number, text: string) => {
    const query = analyzeQuery('What broke on 5 March 2025?', NOW, utcOffset * HOUR)
    return rankingInputs([candidate('a', { text })], query, new SignalReader())[0]!.timeDistanceDays
  }
  for (const utcOffset of [-11, -5, 0, 2, 14]) {
    t.equal(days(utcOffset, 'It broke on 5 March 2025.'), 0)
    t.equal(days(utcOffset, 'It broke on 4 March 2025.'), 1)
    t.equal(days(utcOffset, 'It broke on 6 March 2025.'), 1)
  }
})

t.test('the requested speaker is the only one of the speakers that the question names', async (t) => {
  const nora = candidate('a', { text: 'Nora: A clock.' })
  const otto = candidate('b', { text: 'Otto: A kettle.' })
  const nobody = candidate('c', { text: 'A bell.' })
  const asked = (query: string) => looked(query, nora, otto, nobody).map(({ isNamedSpeaker }) => isNamedSpeaker)
  t.strictSame(asked('What did Otto mend?'), [false, true, false])
  t.strictSame(asked('What did Ida tell Otto?'), [false, true, false], 'a name that is not a speaker does not count')
  t.strictSame(asked('What did Nora tell Otto?'), [false, false, false])
  t.strictSame(asked('What was mended?'), [false, false, false])
})

t.test('the judgement is the weighted sum of the scorers', async (t) => {
  const question = analyzeQuery('When did Nora see the copper kettle?', NOW)
  const [prospect] = rankingInputs(
    [candidate('a', { lexical: 0.5, text: 'Nora: I saw the copper kettle yesterday.' })], question, new SignalReader(),
  )
  const given = scoreBreakdown(prospect!, question)
  const scoreOf = (weights: ScorerWeights) => weightedSums([prospect!], question, weights)[0]
  t.strictSame(Object.keys(given), [...SCORER_NAMES])
  t.equal(scoreOf(only()), 0)
  for (const name of SCORER_NAMES) {
    t.equal(scoreOf(only({ [name]: -2 })), -2 * given[name] + 0, name)
  }
  t.equal(scoreOf(only({ match: 2, speaker: 3 })), 2 * 0.5 + 3)
})
