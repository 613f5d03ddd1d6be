import t from 'tap'
import { boundedBody, readBounded } from '../../../lib/base/read-bounded.js'

/** A body that stays open after some chunks, and says with what it was cancelled. */
function openBody (...chunks: string[]) {
  let cancelled: (reason: unknown) => void = () => {}
  const reason = new Promise((resolve) => { cancelled = resolve })
  const body = new ReadableStream<Uint8Array>({
    start (controller) { for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk)) },
    cancel (given) { cancelled(given) },
  })
  return { body, reason }
}

const signal = new AbortController().signal
const tooLong = () => new RangeError('too long')

t.test('a body is read as UTF-8, up to exactly its bound', async (t) => {
  const bytes = new TextEncoder().encode('tea ☕')
  const split = () => new ReadableStream<Uint8Array>({
    start (controller) {
      controller.enqueue(bytes.subarray(0, 5))
      controller.enqueue(bytes.subarray(5))
      controller.close()
    },
  })
  t.equal(await readBounded(split(), bytes.length, signal, tooLong), 'tea ☕')
  await t.rejects(readBounded(split(), bytes.length - 1, signal, tooLong), tooLong())
})

t.test('a body that is too long is cancelled', async (t) => {
  const { body, reason } = openBody('1234', '5678')
  await t.rejects(readBounded(body, 7, signal, tooLong), tooLong())
  await reason
})

t.test('the signal ends a body that does not observe it', async (t) => {
  const controller = new AbortController()
  const left = new Error('The caller has left')
  const { body, reason } = openBody('1234')
  const reader = boundedBody(body, 100, controller.signal, tooLong).getReader()
  await reader.read()
  const next = reader.read()
  controller.abort(left)
  await t.rejects(next, left)
  t.equal(await reason, left)

  const unread = openBody('1234')
  await t.rejects(readBounded(unread.body, 100, controller.signal, tooLong), left, 'aborted before')
  t.equal(await unread.reason, left)
})

t.test('a body whose connection breaks fails with the error that its reader chooses', async (t) => {
  const body = () => new ReadableStream<Uint8Array>({
    pull (controller) { controller.error(new Error('ECONNRESET')) },
  })
  await t.rejects(readBounded(body(), 100, signal, tooLong), { message: 'ECONNRESET' })
  await t.rejects(
    readBounded(body(), 100, signal, tooLong, (error) => new Error('broken off', { cause: error })),
    { message: 'broken off', cause: { message: 'ECONNRESET' } },
  )
})

t.test('a reader that stops cancels the body', async (t) => {
  const { body, reason } = openBody('1234')
  await boundedBody(body, 100, signal, tooLong).cancel('enough')
  t.equal(await reason, 'enough')
})
