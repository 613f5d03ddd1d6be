import fastJson from 'fast-json-stringify'
import t from 'tap'
import {
  BanksAnswer, ExplainAnswer, MemoriesAnswer, MemoryRecord, RecallAnswer, ReflectAnswer, RetainBatchAnswer,
} from '../../lib/memory/schemas.js'
import { answerPartsOf, escapedBytes, jsonLength, type AnswerSchema } from '../../plugins/answer-parts.js'
import { anyUtf16 } from '../helpers/arbitraries.js'
import fc, { runs } from '../helpers/fast-check.js'

const text = fc.oneof(anyUtf16, fc.string({ maxLength: 60 }), fc.constantFrom('"hits":[]', '[]', ',', '\u2028"\\'))
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const record = fc.record({
  memory_id: fc.uuid(),
  bank_id: text,
  text,
  tags: fc.array(text, { maxLength: 3 }),
  metadata: fc.dictionary(
    text, fc.oneof(text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)),
    { maxKeys: 3 },
  ),
  occurred_at: fc.option(fc.constant('2026-01-15T10:00:00.000Z')),
  retained_at: fc.constant('2026-01-15T10:00:00.000Z'),
  expires_at: fc.constant(null),
  document_id: fc.option(text),
  source: fc.option(text),
  speaker: fc.option(text),
  trust: fc.constantFrom('trusted', 'untrusted', 'suspect'),
})
const hit = fc.tuple(record, fc.record({
  score: fc.double({ min: 0, max: 1, noNaN: true }),
  passages: maybe(fc.array(
    fc.record({ text, start: fc.nat(), end: fc.nat(), score: fc.double({ noNaN: true, noDefaultInfinity: true }) }),
    { maxLength: 2 },
  )),
  scores: maybe(fc.record({
    signals: maybe(fc.dictionary(text, fc.double({ noNaN: true, noDefaultInfinity: true }), { maxKeys: 2 })),
  })),
})).map(([memory, more]) => ({ ...memory, ...more }))
const list = <T>(element: fc.Arbitrary<T>) => fc.array(element, { maxLength: 4 })

const answers: Array<[name: string, schema: object, lists: string[], answer: fc.Arbitrary<Record<string, unknown>>]> = [
  ['recall', RecallAnswer, ['hits'], fc.record({
    hits: list(hit),
    total_available: fc.nat(),
    truncated: fc.boolean(),
    usage: fc.record({ tokens: fc.nat() }),
    degraded: maybe(fc.constant(['semantic'])),
    trace: maybe(fc.record({
      stages: fc.array(fc.record({ name: text, start_ms: fc.nat(), duration_ms: fc.nat() })),
      strategies: fc.constant([]),
    })),
    unknown: maybe(text),
  })],
  ['reflect', ReflectAnswer, ['sources'], fc.record({
    answer: text,
    abstained: fc.boolean(),
    structured: maybe(fc.dictionary(text, text, { maxKeys: 2 })),
    sources: list(hit.map((one) => ({ ...one, cited: true }))),
    usage: fc.record({ tokens: fc.nat(), input_tokens: fc.nat(), output_tokens: fc.nat() }),
  })],
  ['memories', MemoriesAnswer, ['memories'], fc.record({ memories: list(record), next_cursor: fc.option(text) })],
  ['memory', MemoryRecord, [], record],
  [
    'banks', BanksAnswer, ['banks'],
    fc.record({
      banks: list(fc.record({ bank_id: text, memory_count: fc.nat(), last_retained_at: fc.constant(null) })),
      next_cursor: fc.option(text),
    }),
  ],
  ['retain/batch', RetainBatchAnswer, ['results'], fc.record({
    results: list(fc.record({
      stored: fc.boolean(),
      memory_id: fc.uuid(),
      chunk_count: fc.nat(),
      deduplicated: fc.boolean(),
      bank_id: text,
      redactions: maybe(fc.array(text, { maxLength: 2 })),
    })),
  })],
]

for (const [name, schema, lists, answer] of answers) {
  await t.test(`the parts of an answer of ${name} are together what its serializer writes`, async (t) => {
    const serialize = fastJson(schema)
    const parts = answerPartsOf(schema)
    t.same(parts.lists, lists)
    fc.assert(fc.property(answer, (value) => {
      const texts = [...parts.texts(value)]
      t.equal(texts.join(''), serialize(value))
      const elements = lists.flatMap((member) => value[member])
      t.ok(texts.length >= elements.length, 'each element is a separate part')
    }), { numRuns: runs(200, 5000) })
  })
}

await t.test('an answer without an optional list is complete too', async (t) => {
  const parts = answerPartsOf({
    type: 'object',
    properties: { a: { type: 'array', items: { type: 'object', properties: {} } }, b: { type: 'string' } },
  })
  t.equal([...parts.texts({ b: 'x' })].join(''), '{"b":"x"}')
  t.equal([...parts.texts({ a: [{}, {}], b: 'x' })].join(''), '{"a":[{},{}],"b":"x"}')
})

await t.test('a long text is written in pieces, of which none is large', async (t) => {
  const serialize = fastJson(MemoryRecord)
  const [sample] = fc.sample(record, { seed: 1, numRuns: 1 })
  for (const unit of ['\u0001', '"\\', '\u4e2d', 'a\ud83c\udf75', '\ud83c', 'tea\n']) {
    const value = { ...sample, text: `${unit.repeat(100_000)}.` }
    const texts = [...answerPartsOf(MemoryRecord as AnswerSchema).texts(value)]
    t.ok(texts.join('') === serialize(value), `${JSON.stringify(unit)}: the same text`)
    t.ok(Math.max(...texts.map(({ length }) => length)) <= 65_536, JSON.stringify(unit))
  }
})

await t.test('a text with control characters counts as its JSON, another as at least half of it', async (t) => {
  const ofJson = (value: string) => Buffer.byteLength(JSON.stringify(value)) - 2
  fc.assert(fc.property(text, (value) => {
    t.equal(escapedBytes(`\u0001${value}`), ofJson(`\u0001${value}`))
    t.ok(escapedBytes(value) <= ofJson(value) && escapedBytes(value) * 2 >= ofJson(value))
  }), { numRuns: runs(200, 5000) })
  for (let unit = 0; unit < 256; unit++) {
    const text = `\u0001${String.fromCharCode(unit)}`
    t.equal(escapedBytes(text), ofJson(text), `${unit}`)
  }
  t.equal(escapedBytes('\u001f'.repeat(1000)), 6000)
})

await t.test('an explanation is not split into parts', async (t) => {
  t.same(answerPartsOf(ExplainAnswer as AnswerSchema).lists, [])
})

await t.test('a weight is about the length of the JSON, never much less, and counting ends at the limit', async (t) => {
  fc.assert(fc.property(hit, (value) => {
    const length = fastJson({})(value).length
    // Escapes make up to six units of one, and are not counted without a function that counts them.
    t.ok(jsonLength(value, Infinity) * 6 + 100 >= length)
  }), { numRuns: runs(100, 2000) })
  let asked = 0
  const long = Array.from({ length: 1000 }, () => ({ get text () { return 'x'.repeat(++asked && 1000) } }))
  t.ok(jsonLength(long, 10_000) > 10_000)
  t.ok(asked <= 11, `${asked}`)
})
