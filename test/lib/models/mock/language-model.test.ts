import assert from 'node:assert/strict'
import t from 'tap'
import { filterCitations } from '../../../helpers/citations.js'
import type { Evidence } from '../../../../lib/models/language-model.js'
import { MockLanguageModel } from '../../../../lib/models/mock/language-model.js'
import { countTokens } from '../../../../lib/text/tokens.js'
import { datedEvidence, evidence, languageModelContract, request } from '../../../contract/language-model.js'
import fc from '../../../helpers/fast-check.js'

const NO_ANSWER = 'NO_ANSWER'

languageModelContract('MockLanguageModel', async () => new MockLanguageModel(), { extractive: true, runs: 100 })

async function answer (question: string, texts: string[], maxTokens?: number): Promise<string> {
  return (await new MockLanguageModel().generate(request(question, evidence(...texts), maxTokens))).text
}

type Said = [speaker: string | null, text: string, occurredAt: string | null, retainedAt?: string]

async function answerOf (question: string, ...said: Said[]): Promise<string> {
  const given = said.map(([speaker, text, occurredAt, retainedAt = '2026-01-15T10:00:00.000Z']): Evidence => (
    { speaker, text, bankId: 'home', occurredAt, retainedAt }
  ))
  return (await new MockLanguageModel().generate(request(question, given))).text
}

t.test('the answer is the sentences that share the rarest words with the question', async (t) => {
  t.equal(await answer('Which instrument does Alice play?', [
    'Alice is kind. Alice lives in Lyon.',
    'Alice likes to play the cello, her favourite instrument. She bought it in 2019.',
    'Bob bought a boat.',
  ]), '"Alice likes to play the cello, her favourite instrument." [2]')
})

t.test('a quotation says who said it and when, and what its relative times mean', async (t) => {
  t.equal(
    await answerOf('When did Melanie go camping?', ['Melanie', 'We went camping last month.', '2023-07-17T14:31:00Z']),
    'Melanie, 17 July 2023: "We went camping last month." (last month: June 2023) [1]',
  )
  t.equal(
    await answerOf('What did the assistant say about knots?', ['assistant', 'A bowline is a good knot.', null]),
    'Assistant: "A bowline is a good knot." [1]',
  )
})

t.test('relative times are told as dates of the calendar', async (t) => {
  for (const [words, means] of [
    ['yesterday', '16 July 2023'], ['last weekend', '15–16 July 2023'], ['last week', '10–16 July 2023'],
    ['next month', 'August 2023'], ['three years ago', '2020'], ['2 months ago', 'May 2023'],
    ['last October', 'October 2022'], ['last Friday', '14 July 2023'],
  ] as const) {
    t.equal(
      await answerOf('When was the kayak repaired?', [
        null, `The kayak was repaired ${words}.`, '2023-07-17T14:31:00Z',
      ]),
      `17 July 2023: "The kayak was repaired ${words}." (${words}: ${means}) [1]`,
    )
  }
})

t.test('a memory that was stored without a time of its own tells when it was stored where that matters', async (t) => {
  t.equal(
    await answerOf('Where does Alice live?', [null, 'Alice moved to Lyon last month.', null]),
    'Stored 15 January 2026: "Alice moved to Lyon last month." [1]',
  )
  t.equal(await answerOf('Where does Alice live?', [null, 'Alice lives in Lyon.', null]), '"Alice lives in Lyon." [1]')
})

t.test('greetings, reactions and questions are not quoted', async (t) => {
  const question = 'What did Melanie paint?'
  t.equal(
    await answerOf(question, ['Melanie', 'Hey Jo! Wow, that is great! Guess what? Yeah, I painted a lake.', null]),
    'Melanie: "I painted a lake." [1]',
  )
  t.equal(
    await answerOf(question, ['Melanie', 'I painted a lake at sunrise, what do you think?', null]),
    'Melanie: "I painted a lake at sunrise …" [1]',
  )
  t.equal(await answerOf(question, ['Melanie', 'What did I paint? Did you see what I paint?', null]), NO_ANSWER)
})

t.test('who is asked about is preferred as speaker, by the name before the text too', async (t) => {
  t.match(
    await answerOf('What does Caroline play?', ['Melanie', 'I play the violin.', null], [
      'Caroline', 'I play the guitar.', null,
    ]),
    /^Caroline: "I play the guitar\." \[2\]/,
  )
  t.equal(
    await answer('What does Caroline play?', ['Caroline: I play the guitar.']), 'Caroline: "I play the guitar." [1]',
  )
})

t.test('evidence that does not answer is not quoted', async (t) => {
  t.equal(await answer('Who is the plumber?', ['Alice saw her doctor. It was raining.', 'Bob was there.']), NO_ANSWER)
  t.equal(
    await answer('When did Zoe adopt her parrot in Quito?', ['Alice adopted a cat.', 'Bob likes Lyon.']), NO_ANSWER,
  )
})

t.test('a memory close in meaning answers a short question that shares no word with it', async (t) => {
  const [dark] = evidence('I prefer dark mode.')
  const ask = async (similarity: number) => (
    await new MockLanguageModel().generate(request('Which theme should I use?', [{ ...dark!, score: 0.6, similarity }]))
  ).text
  t.equal(await ask(0.6), '"I prefer dark mode." [1]')
  t.equal(await ask(0.2), NO_ANSWER)
})

t.test('a quoted sentence cites only its own memory, and is no abstention', async (t) => {
  for (const [text, quoted] of [
    ['The boat is hers [2].', '"The boat is hers (2)." [1]'],
    ['The boat is hers [[1-2]] 【source 2】.', '"The boat is hers [(1-2)] (source 2)." [1]'],
    ['The boat [sic] 【重要】 is hers 【2†', '"The boat [sic] 【重要】 is hers (2†" [1]'],
    ['NO_ANSWER, no boat.', '"NO ANSWER, no boat." [1]'],
  ] as const) {
    const written = await answer('Whose boat?', [text, 'Bob was there.'])
    t.equal(written, quoted)
    t.match(filterCitations(written, 2), { cited: [1], abstained: false })
  }
})

t.test('an answer has at most three sentences, and of equal ones the first', async (t) => {
  t.equal(
    await answer('apple', ['Apple pie baked. Apple juice pressed.', 'Apple trees planted.', 'Apple cake eaten.']),
    '"Apple pie baked. Apple juice pressed." [1]\n"Apple trees planted." [2]',
  )
})

t.test('a token limit below the first sentence cuts it between words, and the answer is marked as cut', async (t) => {
  const text = await answer('apple', [`apple ${'and another word '.repeat(50)}.`], 20)
  t.match(text, /^"apple and another.* …" \[1\]$/)
  t.ok(countTokens(text) <= 20)
})

t.test('a token limit below the first word cuts inside the word', async (t) => {
  const word = 'antidisestablishmentarianism'.repeat(20)
  const text = await answer(word, [word], 12)
  t.ok(countTokens(text) <= 12)
  t.match(text, /^"antidis\w* …" \[1\]$/)
})

t.test('even the smallest token limit holds', async (t) => {
  for (const words of ['Alice lives in Lyon.', '東京に行きます']) {
    for (let maxTokens = 1; maxTokens <= 8; maxTokens++) {
      const text = await answer(words, [words], maxTokens)
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

t.test('of statements that contradict each other the latest comes first, and each has its date', async (t) => {
  t.equal(
    await answerOf('Where does Alice live?', [null, 'Alice lives in Lyon.', '2019-05-04T10:00:00Z'], [
      null, 'Alice lives in Oslo.', '2024-03-01T10:00:00Z',
    ]),
    '1 March 2024: "Alice lives in Oslo." [2]\nEarlier: 4 May 2019: "Alice lives in Lyon." [1]',
  )
  t.equal(
    await answerOf('Where does Alice live?', [null, 'Alice lives in Lyon.', '2024-03-01T10:00:00Z'], [
      null, 'Alice no longer lives in Lyon.', '2024-03-02T10:00:00Z',
    ]),
    '2 March 2024: "Alice no longer lives in Lyon." [2]\nEarlier: 1 March 2024: "Alice lives in Lyon." [1]',
  )
})

t.test('what has changed comes first, whatever its words', async (t) => {
  t.equal(
    await answerOf('Where do I live?', ['user', 'I live in Berlin.', '2024-01-10T10:00:00Z'], [
      'user', 'I moved to Paris last month.', '2024-05-02T10:00:00Z',
    ]),
    'User, 2 May 2024: "I moved to Paris last month." (last month: April 2024) [2]\n' +
      'Earlier: User, 10 January 2024: "I live in Berlin." [1]',
  )
})

t.test('a change of another speaker or of another matter replaces nothing', async (t) => {
  const berlin: Said = ['Ada', 'I live in Berlin.', '2024-01-10T10:00:00Z']
  for (const other of [
    ['Ben', 'I moved to Paris last month.', '2024-05-02T10:00:00Z'],
    ['Ada', 'I switched to decaf coffee.', '2024-05-02T10:00:00Z'],
    ['Ada', 'We moved to the new office in Paris.', '2024-05-02T10:00:00Z'],
  ] as const) {
    const text = await answerOf('Where does Ada live?', berlin, [...other])
    t.match(text, /^Ada, 10 January 2024: "I live in Berlin\." \[1\]/)
    t.notMatch(text, /Earlier/)
  }
})

t.test('a change at work is no change of the boss, and one without a time none of a time', async (t) => {
  const office: Said = ['Ada', 'We moved to the new office.', '2024-05-02T10:00:00Z']
  for (const [question, said] of [
    ['Who is the boss of Ada?', 'My boss Amira is kind.'],
    ['When is the move of Ada?', 'I move on the first of April.'],
  ] as const) {
    const text = await answerOf(question, ['Ada', said, '2024-01-10T10:00:00Z'], office)
    t.ok(text.startsWith(`Ada, 10 January 2024: "${said}" [1]`), text)
    t.notMatch(text, /Earlier/)
  }
})

t.test('the hours of work that go up replace those of before', async (t) => {
  t.equal(
    await answerOf(
      'How many hours a week does Ada work?', ['Ada', 'I work 32 hours a week.', '2024-04-18T10:00:00Z'],
      ['Ada', 'Hours at work go up to 38 from September.', '2024-08-11T10:00:00Z'],
    ),
    'Ada, 11 August 2024: "Hours at work go up to 38 from September." [2]\n' +
      'Earlier: Ada, 18 April 2024: "I work 32 hours a week." [1]',
  )
})

t.test('statements of one time, or that agree, are not called earlier', async (t) => {
  const [lyon, oslo] = ['Alice lives in Lyon.', 'Alice lives in Oslo.']
  for (const text of [
    await answerOf('Where does Alice live?', [null, lyon, null], [null, oslo, null]),
    await answerOf(
      'Where does Alice live?', [null, lyon, '2024-03-01T10:00:00Z'], [null, oslo, '2024-03-01T10:00:00Z'],
    ),
    await answerOf('Where does Alice live?', [null, lyon, '2019-05-04T10:00:00Z'], [
      null, 'Alice lives in Lyon with Bob.', '2024-03-01T10:00:00Z',
    ]),
  ]) t.notMatch(text, /Earlier/)
})

t.test('an answer passes the filter of citations verified, unchanged but for the numbers of marks', async () => {
  const questions = fc.constantFrom('Where does Alice live?', 'tea', '東京', '?')
  await fc.assert(fc.asyncProperty(questions, datedEvidence, async (question, given) => {
    const { text } = await new MockLanguageModel().generate(request(question, given))
    const filtered = filterCitations(text, given.length, { sourceTexts: given.map(({ text }) => text) })
    if (text === NO_ANSWER) return
    // The filter numbers the marks in the order of the answer.
    const unnumbered = (answer: string) => answer.replaceAll(/\[\d+\]/g, '[n]')
    assert.equal(unnumbered(filtered.text), unnumbered(text))
    assert.equal(filtered.unverified, false)
    assert.equal(filtered.abstained, false)
  }))
})
