import t from 'tap'
import type { FileConfig } from '../../../lib/config/schema.js'
import { DeadlineExceeded } from '../../../lib/base/deadline.js'
import { ServiceError } from '../../../lib/base/service-error.js'
import { MeteredLanguageModel, type MeteredCall, type Price } from '../../../lib/operations/metered-language-model.js'
import { UnusableGeneration } from '../../../lib/operations/model-errors.js'
import type { Generation, GenerationPart, LanguageModel } from '../../../lib/models/language-model.js'
import { ModelCallError, type ModelCallKind } from '../../../lib/models/remote/model-call-error.js'
import { AdmissionControl, UsageCounters } from '../../../lib/operations/admission.js'
import { NO_TELEMETRY, type ModelCallRecord } from '../../../lib/base/telemetry.js'
import { countTokens } from '../../../lib/text/tokens.js'
import { testClock } from '../../helpers/clock.js'
import { bankResolver } from '../../helpers/settings.js'

const bankWith = (quotas: Quotas) => bankResolver({ homeostasis: { quotas } })({ tenantId: null, bankId: 'home' })
const PROMPT = 'Where does Alice live?'
const CALL: MeteredCall = {
  purpose: 'reflect',
  banks: [bankWith({})],
  messages: [{ role: 'system', content: 'Answer.' }, { role: 'user', content: PROMPT }],
  grounding: { question: PROMPT, evidence: [] },
  maxTokens: 50,
}
const PROMPT_TOKENS = countTokens('Answer.') + countTokens(PROMPT)
const GOOD: Generation = { text: 'Lyon [1].', usage: { inputTokens: 1000, outputTokens: 100 } }
const LEFT = new DOMException('The client left', 'AbortError')

type Quotas = NonNullable<NonNullable<FileConfig['homeostasis']>['quotas']>

/**
 * A metered model around this model. Its calls count for one bank with these quotas; each look at its timer moves it
 * 5 ms.
 */
function setUp (
  model: Partial<LanguageModel>, { quotas = {}, prices = {} }: { quotas?: Quotas, prices?: Record<string, Price> } = {},
) {
  const records: ModelCallRecord[] = []
  const bank = bankWith(quotas)
  const budget = new AdmissionControl(testClock(), NO_TELEMETRY, new UsageCounters())
  let now = 0
  const metered = new MeteredLanguageModel({
    languageModel: { generate: async () => GOOD, ...model },
    provider: 'scripted',
    prices,
    admission: budget,
    telemetry: { ...NO_TELEMETRY, modelCall: (record) => { records.push(record) } },
    timer: () => { now += 5; return now },
  })
  /** Tokens of the day that are left of the quota. */
  const left = async () => {
    const most = quotas.model_tokens_per_day!
    let low = 0
    let high = most
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      try {
        (await budget.reserveModelCall([bank], () => middle)).settle(0, false)
        low = middle
      } catch {
        high = middle - 1
      }
    }
    return low
  }
  const ofBank = <C extends MeteredCall>(call: C): C => ({ ...call, banks: [bank] })
  return {
    metered: {
      get model () { return metered.model },
      get isStructured () { return metered.isStructured },
      generate: async (call: MeteredCall) => await metered.generate(ofBank(call)),
      stream: (call: MeteredCall) => metered.stream(ofBank(call)),
    },
    records,
    left,
  }
}

async function failureOf (work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work()
    return undefined
  } catch (error) {
    return error
  }
}

function streamOf (...given: Array<GenerationPart | Error>): Pick<LanguageModel, 'stream'> & { ended: boolean } {
  const model = {
    ended: false,
    stream: async function * (): AsyncGenerator<GenerationPart, void> {
      try {
        for (const part of given) {
          if (part instanceof Error) throw part
          yield part
        }
      } finally {
        model.ended = true
      }
    },
  }
  return model
}

const text = (piece: string): GenerationPart => ({ type: 'text', text: piece })
const END: GenerationPart = { type: 'end', usage: GOOD.usage, finish: 'length' }

async function collected<T> (parts: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const part of parts) all.push(part)
  return all
}

t.test('the model has the name that it gives itself, else that of its provider', async (t) => {
  t.equal(setUp({}).metered.model, 'scripted')
  t.equal(setUp({ model: 'm-1' }).metered.model, 'm-1')
})

t.test('a model supports structured answers unless it says otherwise', async (t) => {
  t.equal(setUp({}).metered.isStructured, true)
  t.equal(setUp({ structured: false }).metered.isStructured, false)
})

t.test('a successful call is settled with its usage, and reported with its duration', async (t) => {
  const { metered, records, left } = setUp({ model: 'm-1' }, { quotas: { model_tokens_per_day: 5000 } })
  t.same(await metered.generate(CALL), GOOD)
  t.equal(await left(), 5000 - 1100)
  t.same(records, [
    {
      kind: 'llm',
      provider: 'scripted',
      model: 'm-1',
      purpose: 'reflect',
      outcome: 'ok',
      durationMs: 5,
      inputTokens: 1000,
      outputTokens: 100,
    },
  ])
})

t.test('a price is per million tokens, by the name of the model, and not by an inherited property', async (t) => {
  const prices = { 'm-1': { input: 3, output: 15 } }
  t.equal((await setUp({ model: 'm-1' }, { prices }).metered.generate(CALL)).usage.cost, 0.0045)
  t.equal((await setUp({ model: 'm-2' }, { prices }).metered.generate(CALL)).usage.cost, undefined)
  t.equal((await setUp({ model: 'constructor' }, { prices }).metered.generate(CALL)).usage.cost, undefined)
  t.equal(
    (await setUp({ model: 'm-1' }, {
      prices: { 'm-1': { input: 0.1, output: 0.2 } },
    }).metered.generate({ ...CALL })).usage.cost,
    0.00012, 'no digits of binary fractions',
  )
})

t.test('the maximum of a call is reserved before it, so that two calls do not spend the same remainder', async (t) => {
  const { metered, records } = setUp(
    { generate: async () => await metered.generate({ ...CALL, purpose: 'rewrite' }) },
    { quotas: { model_tokens_per_day: 2 * (PROMPT_TOKENS + 50) - 1 } },
  )
  const failure = await failureOf(async () => await metered.generate(CALL))
  t.ok(failure instanceof ServiceError)
  t.match(failure, { code: 'quota_exceeded', detail: /model_tokens_per_day/ })
  t.same(records.map(({ purpose }) => purpose), ['reflect'], 'a call that was not made is not reported')
})

t.test('the tokens of a long conversation are counted in turns of the event loop', async (t) => {
  let turns = 0
  const { metered } = setUp({
    generate: async () => {
      clearImmediate(counting)
      return GOOD
    },
  }, { quotas: { model_tokens_per_day: 1_000_000 } })
  const count = () => {
    turns++
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  const content = 'A ferry, “\\n”. '.repeat(2_000)
  const messages = Array.from({ length: 40 }, () => ({ role: 'user' as const, content }))
  await metered.generate({ ...CALL, messages })
  t.ok(turns > 3, `${turns} turns`)
})

const ends: Array<[error: Error, outcome: string, paid: boolean]> = [
  ...(['unreachable', 'rejected', 'rate_limited', 'overloaded', 'circuit_open'] as const).map(
    (kind: ModelCallKind): [Error, string, boolean] => [new ModelCallError(kind, kind), kind, false],
  ),
  [new ModelCallError('timeout', 'late'), 'timeout', true],
  [new ModelCallError('unusable', 'HTML'), 'unusable', true],
  [new DeadlineExceeded(5), 'timeout', true],
  [new Error('foreign'), 'error', false],
]
/** The error of a model's own code, which is wrapped, or any other error. */
function foreignCause (error: unknown): unknown {
  return error instanceof Error && error.name === 'ForeignModelError' ? error.cause : error
}

for (const [error, outcome, paid] of ends) {
  t.test(`a call that ends with ${error.name} ${error.message} is reported as ${outcome}, and ` +
    `${paid ? 'its prompt is paid for' : 'nothing is paid for'}`, async (t) => {
    const { metered, records, left } = setUp({ generate: async () => { throw error } }, {
      quotas: { model_tokens_per_day: 5000 },
    })
    t.equal(foreignCause(await failureOf(async () => await metered.generate(CALL))), error)
    t.equal(await left(), paid ? 5000 - PROMPT_TOKENS : 5000)
    t.match(records, [{ outcome, inputTokens: undefined, cost: undefined }])
    t.equal(records.length, 1)
  })

  t.test(`the same holds for a stream with ${error.name} ${error.message}; its text is paid for too`, async (t) => {
    const { metered, records, left } = setUp(streamOf(text('Alice lives'), error), {
      quotas: { model_tokens_per_day: 5000 },
    })
    t.equal(foreignCause(await failureOf(async () => await collected(metered.stream(CALL)))), error)
    t.equal(await left(), paid ? 5000 - PROMPT_TOKENS - countTokens('Alice lives') : 5000)
    t.match(records, [{ outcome }])
    t.equal(records.length, 1)
  })
}

for (const [what, given] of Object.entries<unknown>({
  nothing: undefined,
  null: null,
  'a blank text': { ...GOOD, text: ' \n' },
  'a text that is none': { ...GOOD, text: 5 },
  'no usage': { text: 'Lyon.' },
  'half a token': { text: 'Lyon.', usage: { inputTokens: 1.5, outputTokens: 1 } },
  'fewer than no tokens': { text: 'Lyon.', usage: { inputTokens: 1, outputTokens: -1 } },
})) {
  t.test(`a model that returns ${what} is unusable`, async (t) => {
    const { metered, records } = setUp({ generate: async () => given as Generation })
    t.match(await failureOf(async () => await metered.generate(CALL)), new UnusableGeneration())
    t.match(records, [{ outcome: 'unusable' }])
  })
}

for (const [what, model] of Object.entries({
  'no end': streamOf(text('Lyon.')),
  'no text': streamOf(END),
  'a blank text': streamOf(text(' '), END),
  'an end without usage': streamOf(text('Lyon.'), { type: 'end', usage: { inputTokens: NaN, outputTokens: 1 } }),
})) {
  t.test(`a stream with ${what} is unusable`, async (t) => {
    const { metered, records } = setUp(model)
    t.match(await failureOf(async () => await collected(metered.stream(CALL))), new UnusableGeneration())
    t.match(records, [{ outcome: 'unusable' }])
    t.equal(model.ended, true)
  })
}

t.test('a stream gives its texts and its end with the cost', async (t) => {
  const { metered, records, left } = setUp(
    { model: 'm-1', ...streamOf(text('Lyon '), text('[1].'), END) },
    { prices: { 'm-1': { input: 3, output: 15 } }, quotas: { model_tokens_per_day: 5000 } },
  )
  t.same(await collected(metered.stream(CALL)), [
    text('Lyon '), text('[1].'), { type: 'end', usage: { ...GOOD.usage, cost: 0.0045 }, finish: 'length' },
  ])
  t.equal(await left(), 3900)
  t.match(records, [{ outcome: 'ok', cost: 0.0045 }])
  t.equal(records.length, 1)
})

t.test('a model that cannot stream gives its answer as one text', async (t) => {
  const { metered, records } = setUp({})
  t.same(await collected(metered.stream(CALL)), [text(GOOD.text), { type: 'end', usage: GOOD.usage }])
  t.equal(records.length, 1)
})

t.test('a reader that stops ends the stream of the model, and pays for the received text', async (t) => {
  const model = streamOf(text('Alice lives'), text(' in Lyon'), END)
  const { metered, records, left } = setUp(model, { quotas: { model_tokens_per_day: 5000 } })
  const parts = metered.stream(CALL)[Symbol.asyncIterator]()
  await parts.next()
  await parts.return?.(undefined)
  t.equal(model.ended, true)
  t.equal(await left(), 5000 - PROMPT_TOKENS - countTokens('Alice lives'))
  t.match(records, [{ outcome: 'aborted' }])
})

t.test('a call whose caller left is aborted, however it ends, and one whose deadline passed is late', async (t) => {
  for (const [reason, outcome] of [[LEFT, 'aborted'], [new DeadlineExceeded(5), 'timeout']] as const) {
    const controller = new AbortController()
    const { metered, records, left } = setUp({
      generate: async () => { controller.abort(reason); throw new ModelCallError('unreachable', 'cut') },
      ...streamOf(text('Alice lives'), text(' in Lyon'), END),
    }, { quotas: { model_tokens_per_day: 5000 } })
    const call = { ...CALL, signal: controller.signal }
    const parts = metered.stream(call)[Symbol.asyncIterator]()
    await parts.next()
    await failureOf(async () => await metered.generate(call))
    t.equal(records.at(-1)?.outcome, outcome)
    await parts.return?.(undefined)
    t.equal(records.at(-1)?.outcome, outcome, 'a stream that is left for it')
    t.equal(records.length, 2)
    t.equal(await left(), 5000 - 2 * PROMPT_TOKENS - countTokens('Alice lives'))
  }
})
