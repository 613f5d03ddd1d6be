import assert from 'node:assert/strict'
import fc from '../helpers/fast-check.js'
import t, { type Test } from 'tap'
import type { Evidence, GenerateRequest, Generation, LanguageModel } from '../../lib/models/language-model.js'
import { reflectPrompt } from '../../lib/memory/reflect-prompt.js'
import { countTokens } from '../../lib/text/tokens.js'

export interface LanguageModelContractOptions {
  /** Whether an answer consists of sentences of the evidence, word for word, each with its mark. */
  extractive: boolean
  /** How often a property is tried; a model that is asked over the network answers less often. */
  runs?: number
}

export function evidence (...texts: string[]): Evidence[] {
  return texts.map((text) => ({ text, bankId: 'home', occurredAt: null }))
}

export function request (question: string, evidence: readonly Evidence[], maxTokens = 1024): GenerateRequest {
  return { messages: reflectPrompt(question, evidence), grounding: { question, evidence }, maxTokens }
}

const LYON = evidence('Alice lives in Lyon. She moved there in 2019.', 'Bob prefers tea over coffee.', 'Alice plays the cello on Tuesdays.')

const word = fc.constantFrom('Alice', 'lives', 'Lyon', 'tea', 'cello', 'in', 'the', '東京', '🎉', "don't", 'x'.repeat(300), '3.5', '"quoted"', '$1', '__proto__')
const sentence = fc.array(word, { minLength: 1, maxLength: 9 }).map((words) => `${words.join(' ')}.`)
const anyEvidence = fc.array(fc.array(sentence, { minLength: 1, maxLength: 5 }).map((sentences) => sentences.join(' ')), { minLength: 1, maxLength: 5 })
  .map((texts) => evidence(...texts))
const anyQuestion = fc.oneof(sentence, fc.constantFrom('?', 'who are you', '   '))

/** What every implementation of LanguageModel must pass. */
export function languageModelContract (name: string, make: (t: Test) => Promise<LanguageModel>, { extractive, runs = 100 }: LanguageModelContractOptions): void {
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

    t.test('evidence of any kind gets an answer within its ceiling that cites only what there is', async (t) => {
      const model = await open(t)
      await fc.assert(fc.asyncProperty(anyQuestion, anyEvidence, fc.integer({ min: 1, max: 120 }), async (question, given, maxTokens) => {
        const generation = await model.generate(request(question, given, maxTokens))
        assertUsable(generation, given, maxTokens)
      }), { numRuns: runs })
    })

    t.test('calls at the same moment do not mix', async (t) => {
      const model = await open(t)
      const towns = ['Lyon', 'Oslo', 'Kyoto', 'Quito']
      const answers = await Promise.all(towns.map(async (town) => await model.generate(request('Where does Alice live?', evidence(`Alice lives in ${town}.`)))))
      answers.forEach(({ text }, index) => t.match(text, towns[index]))
    })

    t.test('each sentence of an answer stands word for word in the evidence that it cites', { skip: !extractive }, async (t) => {
      const model = await open(t)
      await fc.assert(fc.asyncProperty(anyQuestion, anyEvidence, async (question, given) => {
        const { text } = await model.generate(request(question, given, 100_000))
        const quotes = [...text.matchAll(/(.*?) \[(\d+)\](?: |$)/gsu)]
        assert.ok(quotes.length > 0, text)
        assert.equal(quotes.map(([whole]) => whole).join(''), text, 'nothing stands outside of the quotes')
        for (const [, quote, number] of quotes) assert.ok(given[Number(number) - 1]!.text.includes(quote!), `${quote} is not in [${number}]`)
      }), { numRuns: runs })
    })
  })
}

function assertUsable ({ text, usage }: Generation, given: readonly Evidence[], maxTokens: number): void {
  assert.notEqual(text.trim(), '')
  assert.ok(Number.isSafeInteger(usage.inputTokens) && Number.isSafeInteger(usage.outputTokens))
  assert.ok(usage.outputTokens <= maxTokens, `${usage.outputTokens} tokens of ${maxTokens}: ${text}`)
  assert.ok(countTokens(text) <= maxTokens, `${countTokens(text)} tokens of ${maxTokens}: ${text}`)
  for (const [, number] of text.matchAll(/\[(\d+)\]/g)) assert.ok(Number(number) >= 1 && Number(number) <= given.length, `[${number}] of ${given.length}`)
}
