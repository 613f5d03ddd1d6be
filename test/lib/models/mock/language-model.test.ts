import assert from 'node:assert/strict'
import t from 'tap'
import { filterCitations } from '../../../helpers/citations.js'
import { MockLanguageModel } from '../../../../lib/models/mock/language-model.js'
import { countTokens } from '../../../../lib/text/tokens.js'
import { datedEvidence, evidence, languageModelContract, request } from '../../../contract/language-model.js'
import fc from '../../../helpers/fast-check.js'

languageModelContract('MockLanguageModel', async () => new MockLanguageModel(), { extractive: true, runs: 100 })

async function answer (question: string, texts: string[], maxTokens?: number): Promise<string> {
  return (await new MockLanguageModel().generate(request(question, evidence(...texts), maxTokens))).text
}

t.test('the answer is the sentences that share the rarest words with the question', async (t) => {
  t.equal(await answer('Which instrument does Alice play?', [
    'Alice is kind. Alice lives in Lyon.',
    'Alice likes to play the cello, her favourite instrument. She bought it in 2019.',
    'Bob bought a boat.',
  ]), 'Alice likes to play the cello, her favourite instrument. [2]')
})

t.test('a quoted sentence cites only its own memory, and is no abstention', async (t) => {
  for (const [text, quoted] of [
    ['The boat is hers [2].', 'The boat is hers (2). [1]'],
    ['The boat is hers [[1-2]] 【source 2】.', 'The boat is hers [(1-2)] (source 2). [1]'],
    ['The boat [sic] 【重要】 is hers 【2†', 'The boat [sic] 【重要】 is hers (2† [1]'],
    ['NO_ANSWER, no boat.', 'NO ANSWER, no boat. [1]'],
  ] as const) {
    const written = await answer('Whose boat?', [text, 'Bob was there.'])
    t.equal(written, quoted)
    t.match(filterCitations(written, 2), { cited: [1], abstained: false })
  }
})

t.test('an answer has at most three sentences, and of equal ones the first', async (t) => {
  t.equal(
    await answer('apple', ['Apple one. Apple two.', 'Apple three.', 'Apple four.']),
    'Apple one. [1] Apple two. [1] Apple three. [2]',
  )
})

t.test('when no sentence shares a word with the question the best evidence is quoted', async (t) => {
  t.equal(
    await answer('Who is the physician?', ['Alice saw her doctor. It was raining.', 'Bob was there.']),
    'Alice saw her doctor. [1]',
  )
})

t.test('a token limit below the first sentence cuts it between words, and the answer is marked as cut', async (t) => {
  const text = await answer('apple', [`apple ${'and another word '.repeat(50)}.`], 20)
  t.match(text, /^apple and another.* … \[1\]$/)
  t.ok(countTokens(text) <= 20)
})

t.test('a token limit below the first word cuts inside the word', async (t) => {
  const word = 'antidisestablishmentarianism'.repeat(20)
  const text = await answer('apple', [word], 10)
  t.ok(countTokens(text) <= 10)
  t.match(text, /^antidis\w* … \[1\]$/)
  t.ok(word.startsWith(text.slice(0, text.indexOf(' '))))
})

t.test('even the smallest token limit holds', async (t) => {
  for (const words of ['Alice lives in Lyon.', '👩‍👩‍👧👩‍👩‍👧', '東京に行きます']) {
    for (let maxTokens = 1; maxTokens <= 8; maxTokens++) {
      const text = await answer('?', [words], maxTokens)
      t.ok(text !== '' && countTokens(text) <= maxTokens, `${maxTokens}: ${text}`)
      t.ok(text.isWellFormed())
    }
  }
})

t.test('tokens are counted over the prompt and the answer', async (t) => {
  const asked = request('Where does Alice live?', evidence('Alice lives in Lyon.'))
  const { text, usage } = await new MockLanguageModel().generate(asked)
  t.equal(usage.inputTokens, asked.messages.reduce((sum, { content }) => sum + countTokens(content), 0))
  t.equal(usage.outputTokens, countTokens(text))
})

/** @param texts each with the day that it tells of, and when it was stored */
async function datedAnswer (
  question: string, ...texts: Array<[text: string, occurredAt: string | null, retainedAt?: string]>
): Promise<string> {
  const given = texts.map(([text, occurredAt, retainedAt = '2026-01-15T10:00:00.000Z']) => (
    { text, bankId: 'home', occurredAt, retainedAt }
  ))
  return (await new MockLanguageModel().generate(request(question, given))).text
}

t.test('of contradicting sentences the latest comes first, and each is dated', async (t) => {
  t.equal(await datedAnswer('Where does Alice live?', ['Alice lives in Lyon.', '2019-05-04T10:00:00Z'], [
    'Alice lives in Oslo.', '2024-03-01T10:00:00Z',
  ]),
  'Alice lives in Oslo. [2] (2024-03-01) Alice lives in Lyon. [1] (earlier, 2019-05-04)')
  t.equal(await datedAnswer('Where does Alice live?', ['Alice lives in Lyon.', '2024-03-01T10:00:00Z'], [
    'Alice no longer lives in Lyon.', '2024-03-02T10:00:00Z',
  ]),
  'Alice no longer lives in Lyon. [2] (2024-03-02) Alice lives in Lyon. [1] (earlier, 2024-03-01)')
  t.equal(await datedAnswer(
    'When is the meeting?', ['The meeting is at 3.', '2024-03-01T08:00:00Z'],
    ['The meeting is at 4.', '2024-03-01T12:15:00+02:00'], ['The meeting is at 5.', '2023-01-01T00:00:00Z'],
  ),
  'The meeting is at 4. [2] (2024-03-01 10:15) The meeting is at 3. [1] (earlier, 2024-03-01 08:00) The meeting is ' +
      'at 5. [3] (earlier, 2023-01-01 00:00)')
})

t.test('a contradiction without a time of its own is dated by when it was stored', async (t) => {
  const question = 'Where does Alice live?'
  const [lyon, oslo] = ['Alice lives in Lyon.', 'Alice lives in Oslo.']
  t.equal(await datedAnswer(question, [lyon, null, '2025-05-04T10:00:00.000Z'], [
    oslo, null, '2026-01-15T10:00:00.000Z',
  ]),
  'Alice lives in Oslo. [2] (stored 2026-01-15) Alice lives in Lyon. [1] (earlier, stored 2025-05-04)')
  t.equal(await datedAnswer(question, [lyon, '2019-05-04T10:00:00Z'], [oslo, null]),
    'Alice lives in Oslo. [2] (stored 2026-01-15) Alice lives in Lyon. [1] (earlier, 2019-05-04)')
  t.equal(await datedAnswer(question, [lyon, null, '2026-01-15T10:00:01.000Z'], [
    oslo, null, '2026-01-15T10:00:02.500Z',
  ]),
  'Alice lives in Oslo. [2] (stored 2026-01-15 10:00:02) Alice lives in Lyon. [1] (earlier, stored ' +
      '2026-01-15 10:00:01)')
  t.equal(await datedAnswer(question, [lyon, null, '2026-01-15T10:00:00.001Z'], [
    oslo, null, '2026-01-15T10:00:00.002Z',
  ]),
  'Alice lives in Oslo. [2] (stored 2026-01-15 10:00:00.002) Alice lives in Lyon. [1] (earlier, stored 2026-01-15 ' +
      '10:00:00.001)')
})

t.test('of one time, or without a contradiction, nothing is dated, and the best is first', async (t) => {
  const [lyon, oslo] = ['Alice lives in Lyon.', 'Alice lives in Oslo.']
  const plain = `${lyon} [1] ${oslo} [2]`
  t.equal(await datedAnswer('Where does Alice live?', [lyon, null], [oslo, null]), plain)
  t.equal(
    await datedAnswer('Where does Alice live?', [lyon, '2024-03-01T10:00:00Z'], [oslo, '2024-03-01T10:00:00Z']), plain,
  )
  t.equal(
    await datedAnswer('Where does Alice live?', [lyon, '2019-05-04T10:00:00Z'], [
      'Alice lives in Lyon with Bob.', '2024-03-01T10:00:00Z',
    ]),
    `${lyon} [1] Alice lives in Lyon with Bob. [2]`,
  )
  t.equal(
    await datedAnswer('Alice', ['Alice lives in Lyon.', '2019-05-04T10:00:00Z'], [
      'Tea is what Alice drinks.', '2024-03-01T10:00:00Z',
    ]),
    'Alice lives in Lyon. [1] Tea is what Alice drinks. [2]',
  )
})

t.test('an answer passes the filter of citations unchanged and verified', async () => {
  const questions = fc.constantFrom('Where does Alice live?', 'tea', '東京', '?')
  await fc.assert(fc.asyncProperty(questions, datedEvidence, async (question, given) => {
    const { text } = await new MockLanguageModel().generate(request(question, given))
    const filtered = filterCitations(text, given.length, { sourceTexts: given.map(({ text }) => text) })
    assert.equal(filtered.text, text)
    assert.equal(filtered.unverified, false)
    assert.equal(filtered.abstained, false)
  }))
})
