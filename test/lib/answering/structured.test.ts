import assert from 'node:assert/strict'
import t from 'tap'
import { checkResponseSchema } from '../../../lib/answering/response-schema.js'
import {
  runSync, problemSteps, readObject, readStructuredSteps, repairMessage, wrapSchema,
} from '../../../lib/answering/structured.js'
import type { JsonSchema } from '../../../lib/models/language-model.js'
import { anyUtf16 } from '../../helpers/arbitraries.js'
import fc from '../../helpers/fast-check.js'

const SCHEMA = checkResponseSchema({ type: 'object', properties: { town: { type: 'string' } }, required: ['town'] })
const ANSWER = { answer: 'Lyon {it} is. [1]', structured: { town: 'Lyon "}' } }
const JSON_TEXT = JSON.stringify(ANSWER)

const readStructured = (text: string, schema: JsonSchema) => runSync(readStructuredSteps(text, schema))

t.test('the model is asked for a text beside the structured answer', async (t) => {
  t.strictSame(wrapSchema(SCHEMA), {
    type: 'object',
    properties: { answer: { type: 'string' }, structured: SCHEMA },
    required: ['answer', 'structured'],
    additionalProperties: false,
  })
  t.strictSame(runSync(problemSteps(wrapSchema(SCHEMA), ANSWER)), [])
})

t.test('JSON is read alone, in a fence and with prose around it', async (t) => {
  for (const text of [
    JSON_TEXT, ` \n${JSON.stringify(ANSWER, undefined, 2)}\n`, `\ufeff${JSON_TEXT}`, `\`\`\`json\n${JSON_TEXT}\n\`\`\``,
    `\`\`\`\n${JSON_TEXT}\n\`\`\``,
    `Here it is:\n${JSON_TEXT}\nI hope "that" helps } {`,
    `The set {1, 2} and {} first? ${JSON_TEXT}`.replace('{}', '{a}'), JSON.stringify({ ...ANSWER, note: 1 }),
  ]) t.strictSame(readStructured(text, SCHEMA), { ok: true, ...ANSWER }, text)
})

t.test('an object that does not satisfy the schema is reported without its values', async (t) => {
  const told: Array<[text: string, problems: Array<string | RegExp>]> = [
    ['', [/^must be one JSON object/]],
    ['Lyon', [/^must be one JSON object/]],
    ['["Lyon"]', [/^must be one JSON object/]],
    [JSON_TEXT.slice(0, -1), [/^must be one JSON object/]],
    ['{"answer": "a", "structured": {"town": NaN}}', [/^must be one JSON object/]],
    ['{"answer": "a", "structured": {"town": "x",}}', [/^must be one JSON object/]],
    ['{"answer": "a", "structured": {"town": "x", "__proto__": {"a": 1}}}', [/^must be one JSON object/]],
    ['{"answer": "a", "structured": {"town": "x", "\\u005f_proto__": {"a": 1}}}', [/^must be one JSON object/]],
    ['{"answer": "a", "structured": {"town": "x", "constructor": {"prototype": {}}}}', [/^must be one JSON object/]],
    ['{"answer": "a", "answer": "b", "structured": {"town": "x"}}', ['must not have a name twice in one object']],
    ['{"answer": "a", "structured": {"town": "x", "to\\u0077n" : "y"}}', ['must not have a name twice in one object']],
    ['{"answer": "a", "structured": {"town": "x", "n": [1e999]}}', ['must hold no number that is too great']],
    [`{"answer": "a", "structured": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`, [/^must not be nested/]],
    ['{}', ['answer: must be a string', 'structured: is required']],
    ['{"answer": 7, "structured": {"town": 7}}', ['answer: must be a string', 'structured: town: must be string']],
    ['{"answer": "a", "structured": "Lyon"}', ['structured: must be object']],
    ['{"answer": "a", "structured": {}}', ['structured: town: is required']],
  ]
  for (const [text, problems] of told) {
    const read = readStructured(text, SCHEMA)
    assert.ok(!read.ok, text.slice(0, 80))
    t.match(read.problems, problems, text.slice(0, 80))
    t.equal(read.problems.length, problems.length)
  }
})

t.test('different objects may have members of the same name', async (t) => {
  const text = '{"answer": "a", "structured": {"town": "town", "list": [{"town": 1}, {"town": 2}], "answer": ' +
    '{"structured": "x:"}}}'
  t.match(readStructured(text, SCHEMA), { ok: true, answer: 'a' })
})

t.test('an abstention needs no structured answer', async (t) => {
  t.strictSame(
    readStructured('{"answer": "NO_ANSWER.", "structured": {}}', SCHEMA),
    { ok: true, answer: 'NO_ANSWER.', structured: {} },
  )
  t.strictSame(readStructured('{"answer": "no_answer"}', SCHEMA), { ok: true, answer: 'no_answer', structured: {} })
  t.strictSame(
    readStructured('{"answer": "NO_ANSWER", "structured": {"town": "x"}}', SCHEMA),
    { ok: true, answer: 'NO_ANSWER', structured: { town: 'x' } },
  )
})

t.test('any JSON object is read without its surrounding text', async (t) => {
  t.strictSame(readObject('Sure: {"order": [2, 1]}'), { order: [2, 1] })
  t.equal(readObject('[2, 1]'), undefined)
})

t.test('the message of the repair contains the problems, up to a limit', async (t) => {
  const message = repairMessage(Array.from({ length: 30 }, (_, index) => `structured: a${index}: is required`))
  t.match(message, '- structured: a0: is required\n')
  t.equal(message.split('\n- ').length, 11)
})

t.test('any JSON is read as it was written, whatever text surrounds it', async () => {
  const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.stringify({
    answer: 'x', structured: { town: 'x', value },
  }))
  const around = fc.string().map((text) => text.replaceAll(/[{}]/g, ''))
  fc.assert(fc.property(json, around, around, (json, before, after) => {
    const read = readStructured(`${before}${json}${after}`, SCHEMA)
    if (!read.ok) {
      assert.match(json, /__proto__|"constructor"/)
      return
    }
    assert.equal(JSON.stringify({ answer: read.answer, structured: read.structured }), json)
  }))
  fc.assert(fc.property(anyUtf16, (text) => { assert.equal(typeof readStructured(`{${text}`, SCHEMA).ok, 'boolean') }))
})

t.test('long texts of one kind are read to their end', async (t) => {
  for (const unit of ['{', '}', '{}', '"', '{"', '{"a":', '\\', '{"\\', '[', '{"a":{', ' ']) {
    t.notOk(readStructured(unit.repeat(200_000 / unit.length), SCHEMA).ok, unit)
  }
})
