import assert from 'node:assert/strict'
import fc from '../helpers/fast-check.js'
import t, { type Test } from 'tap'
import type {
  Evidence, GenerateRequest, Generation, GenerationPart, LanguageModel,
} from '../../lib/models/language-model.js'
import { reflectPrompt } from '../../lib/answering/evidence.js'
import { NO_ANSWER } from '../../lib/answering/marks.js'
import { countTokens } from '../../lib/text/tokens.js'

export interface LanguageModelContractOptions {
  /** Whether an answer consists of sentences of the evidence, word for word, each with its mark. */
  extractive: boolean
  /** How often a property is tried; a model that is asked over the network answers less often. */
  runs?: number
}

export function evidence (...texts: string[]): Evidence[] {
  return texts.map((text) => ({ text, bankId: 'home', occurredAt: null, retainedAt: '2026-01-15T10:00:00.000Z' }))
}

export function request (question: string, evidence: readonly Evidence[], maxTokens = 1024): GenerateRequest {
  const labelled = evidence.map((one) => ({ ...one, source: null, trust: 'trusted' as const }))
  return {
    messages: reflectPrompt({
      query: question,
      evidence: labelled,
      boundary: '0123456789abcdef'.repeat(2),
      now: '2026-01-15T10:00:00.000Z',
      missions: [],
    }),
    grounding: { question, evidence },
    maxTokens,
  }
}

/** Lines of an extractive answer: who and when, the quotation, what its relative times mean, the mark. */
const QUOTE = /^(?:Earlier: )?(?:[^"\n]*: )?"(.*)"(?: \([^()]*\))? \[(\d+)\]$/

const LYON = evidence(
  'Alice lives in Lyon. She moved there in 2019.', 'Bob prefers tea over coffee.', 'Alice plays the cello on Tuesdays.',
)

const word = fc.constantFrom(
  'Alice', 'lives', 'Lyon', 'tea', 'cello', 'in', 'the', '東京', '🎉', "don't", 'x'.repeat(300), '3.5', '"quoted"', '$1',
  '__proto__',
)
const sentence = fc.array(word, { minLength: 1, maxLength: 9 }).map((words) => `${words.join(' ')}.`)
const anyEvidence = fc.array(
  fc.array(sentence, { minLength: 1, maxLength: 5 }).map((sentences) => sentences.join(' ')),
  { minLength: 1, maxLength: 5 },
)
  .map((texts) => evidence(...texts))
/** Some of it with a time of its own, and of one subject. */
export const datedEvidence = fc.array(fc.record({
  text: fc.oneof(
    fc.array(sentence, { minLength: 1, maxLength: 3 }).map((sentences) => sentences.join(' ')),
    fc.constantFrom('Alice lives in Lyon.', 'Alice lives in Oslo', 'Alice does not live in Lyon.'),
  ),
  bankId: fc.constant('home'),
  occurredAt: fc.constantFrom(
    null, '2019-05-04T10:00:00.000Z', '2024-03-01T10:00:00.000Z', '2024-03-01T18:30:00+02:00',
  ),
  retainedAt: fc.constantFrom('2026-01-15T10:00:00.000Z', '2026-01-15T10:00:00.250Z', '2026-01-16T10:00:00.000Z'),
}), { minLength: 1, maxLength: 5 })
const anyQuestion = fc.oneof(sentence, fc.constantFrom('?', 'who are you', '   '))

/** What every implementation of LanguageModel must pass. */
export function languageModelContract (
  name: string, make: (t: Test) => Promise<LanguageModel>, { extractive, runs = 100 }: LanguageModelContractOptions,
): void {
  async function open (t: Test): Promise<LanguageModel> {
    const model = await make(t)
    t.teardown(async () => { await model.close?.() })
    return model
  }

  t.test(`${name}: answers`, async (t) => {
    t.test('an answer is text, with its cost in whole tokens', async (t) => {
      const { text, usage } = await (await open(t)).generate(request('Where does Alice live?', LYON))
      t.not(text.trim(), '')
      t.ok(Number.isSafeInteger(usage.inputTokens) && usage.inputTokens > 0, `${usage.inputTokens}`)
      t.ok(Number.isSafeInteger(usage.outputTokens) && usage.outputTokens > 0, `${usage.outputTokens}`)
    })

    t.test('a question about the evidence is answered from it', async (t) => {
      const { text } = await (await open(t)).generate(request('Where does Alice live?', LYON))
      t.match(text, /Lyon/)
      t.match(text, /\[1\]/)
    })

    t.test('any evidence gets an answer within the token limit that cites only existing sources', async (t) => {
      const model = await open(t)
      await fc.assert(fc.asyncProperty(
        anyQuestion, anyEvidence, fc.integer({ min: 1, max: 120 }),
        async (question, given, maxTokens) => {
          const generation = await model.generate(request(question, given, maxTokens))
          assertUsable(generation, given, maxTokens)
        },
      ), { numRuns: runs })
    })

    t.test('a streamed answer is any number of texts and one end', async (t) => {
      const model = await open(t)
      // Not every model has this: then nothing is there to be checked.
      if (model.stream === undefined) return
      const parts: GenerationPart[] = []
      for await (const part of model.stream(request('Where does Alice live?', LYON))) parts.push(part)
      t.strictSame(parts.map(({ type }) => type), [...parts.slice(1).map(() => 'text'), 'end'])
      const text = parts.map((part) => part.type === 'text' ? part.text : '').join('')
      t.match(text, /Lyon.*\[1\]/)
      const end = parts.at(-1)!
      t.ok(
        end.type === 'end' && Number.isSafeInteger(end.usage.inputTokens) &&
          Number.isSafeInteger(end.usage.outputTokens),
      )
    })

    t.test('concurrent calls do not get each other\'s answers', async (t) => {
      const model = await open(t)
      const towns = ['Lyon', 'Oslo', 'Kyoto', 'Quito']
      const answers = await Promise.all(towns.map(async (town) => (
        await model.generate(request('Where does Alice live?', evidence(`Alice lives in ${town}.`)))
      )))
      answers.forEach(({ text }, index) => t.match(text, towns[index]))
    })

    t.test('each sentence of an answer is a literal quotation from the evidence ' +
      'that it cites', { skip: !extractive }, async (t) => {
      const model = await open(t)
      await fc.assert(fc.asyncProperty(anyQuestion, fc.oneof(anyEvidence, datedEvidence), async (question, given) => {
        const { text } = await model.generate(request(question, given, 100_000))
        if (text === NO_ANSWER) return
        for (const line of text.split('\n')) {
          const [, quote, number] = QUOTE.exec(line) ?? []
          assert.ok(quote !== undefined, `${line} is no quotation`)
          for (const part of quote.split(' … ')) {
            const { text } = given[Number(number) - 1]!
            assert.ok(text.includes(part.replace(/ …$/, '')), `${part} is not in [${number}]`)
          }
        }
      }), { numRuns: runs })
    })
  })
}

function assertUsable ({ text, usage }: Generation, given: readonly Evidence[], maxTokens: number): void {
  // The reader of an abstention gets another text.
  if (text === NO_ANSWER) return
  assert.notEqual(text.trim(), '')
  assert.ok(Number.isSafeInteger(usage.inputTokens) && Number.isSafeInteger(usage.outputTokens))
  assert.ok(usage.outputTokens <= maxTokens, `${usage.outputTokens} tokens of ${maxTokens}: ${text}`)
  assert.ok(countTokens(text) <= maxTokens, `${countTokens(text)} tokens of ${maxTokens}: ${text}`)
  for (const [, number] of text.matchAll(/\[(\d+)\]/g)) {
    assert.ok(Number(number) >= 1 && Number(number) <= given.length, `[${number}] of ${given.length}`)
  }
}
