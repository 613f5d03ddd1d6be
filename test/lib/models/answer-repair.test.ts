import assert from 'node:assert/strict'
import { ReadableStream } from 'node:stream/web'
import t from 'tap'
import { repairedEvents, repairUsage } from '../../../lib/models/remote/language-model.js'
import fc from '../../helpers/fast-check.js'

function bodyOf (chunks: Iterable<Uint8Array>): { body: ReadableStream<Uint8Array>, pulled: () => number } {
  let pulled = 0
  const iterator = chunks[Symbol.iterator]()
  const body = new ReadableStream<Uint8Array>({
    pull (controller) {
      const { done, value } = iterator.next()
      if (done === true) controller.close()
      else {
        pulled++
        controller.enqueue(value)
      }
    },
  }, { highWaterMark: 0 })
  return { body, pulled: () => pulled }
}

async function mended (chunks: Iterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of repairedEvents(bodyOf(chunks).body)) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

t.test('counts that are not numbers are removed, and the rest is kept', async (t) => {
  const cases: Array<[given: unknown, mended: unknown]> = [
    [{ choices: [1] }, { choices: [1] }],
    [
      { choices: [], usage: { prompt_tokens: 1, completion_tokens: '2', total_tokens: null } },
      { choices: [], usage: { prompt_tokens: 1 } },
    ],
    [{ choices: [], usage: 'none' }, { choices: [], usage: {} }],
    [{ type: 'message', content: [] }, { type: 'message', content: [], usage: { input_tokens: 0, output_tokens: 0 } }],
    [
      { type: 'message', usage: { input_tokens: 3, output_tokens: 'x' } },
      { type: 'message', usage: { input_tokens: 3, output_tokens: 0 } },
    ],
    [
      { type: 'message_start', message: { id: 'a' } },
      { type: 'message_start', message: { id: 'a', usage: { input_tokens: 0 } } },
    ],
    [{ type: 'message_delta', delta: {} }, { type: 'message_delta', delta: {}, usage: { output_tokens: 0 } }],
    ['text', 'text'],
    [null, null],
  ]
  for (const [given, mended] of cases) t.strictSame(JSON.parse(repairUsage(JSON.stringify(given))), mended)
  t.equal(repairUsage('{"usage":'), '{"usage":')
  t.equal(repairUsage('{"usage":{"prompt_tokens":1e999}}'), '{"usage":{}}')
})

const EVENTS = [
  'event: message_start\ndata: {"type":"message_start","message":{"id":"東京"}}\n\n',
  'data: {"choices":[{"delta":{"content":"🎉 says \\"message_stop\\""}}],"usage":{"prompt_tokens":"x"}}\r\n\r\n',
  ': comment\n\n',
  'data: {"type":"message_stop"}\n\n',
]
const MENDED = [
  'event: message_start\ndata: {"type":"message_start","message":{"id":"東京","usage":{"input_tokens":0}}}\n\n',
  'data: {"choices":[{"delta":{"content":"🎉 says \\"message_stop\\""}}],"usage":{}}\n\r\n',
  ': comment\n\n',
  'data: {"type":"message_stop"}\n\n',
  '\n',
].join('')

t.test('the events are the same, however the body is split', async () => {
  const bytes = Buffer.from(EVENTS.join(''))
  await fc.assert(fc.asyncProperty(
    fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 30 }),
    async (cuts) => {
      const places = [0, ...cuts.sort((a, b) => a - b), bytes.length]
      const chunks = places.slice(1).map((end, index) => bytes.subarray(places[index], end))
      assert.equal(await mended(chunks), MENDED)
    },
  ), { numRuns: 300 })
})

t.test('a body is read only as fast as its events, and is cancelled with them', async (t) => {
  function * endless (): Generator<Uint8Array> {
    for (;;) yield Buffer.from(EVENTS[2]!)
  }
  const { body, pulled } = bodyOf(endless())
  const events = repairedEvents(body)
  for (let count = 1; count <= 3; count++) {
    await events.next()
    // Whatever read ahead would do so in these turns.
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => { setImmediate(resolve) })
    t.equal(pulled(), count)
  }
  await events.return()
  t.equal(pulled(), 3)
})
