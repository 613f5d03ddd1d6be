import { mock } from 'node:test'
import t from 'tap'
import { ReasoningFilter, withoutReasoning } from '../../../lib/models/remote/language-model.js'
import fc from '../../helpers/fast-check.js'

const CASES: Array<[what: string, given: string, left: string]> = [
  [
    'an answer without thoughts stays as it is', ' Alice lives in Lyon. [1] <think>',
    ' Alice lives in Lyon. [1] <think>',
  ],
  [
    'thoughts before it go, and the space behind them', '\n<think>\nHm. [9]</th\n</think>\n\nIn Lyon. [1]',
    'In Lyon. [1]',
  ],
  [
    'tags after the first word are text', 'The tag <think>x</think> is one. [1]',
    'The tag <think>x</think> is one. [1]',
  ],
  ['a thought that never ends leaves nothing', '<think>Let me see', ''],
  ['what only begins like the tag is text', '<thin', '<thin'],
  ['nothing stays nothing', '', ''],
  ['a second thought is text', '<think>a</think><think>b</think>', '<think>b</think>'],
]

for (const [what, given, left] of CASES) {
  t.test(what, async (t) => { t.equal(withoutReasoning(given), left) })
}

t.test('the remaining text does not depend on where the stream was split', async (t) => {
  const part = fc.constantFrom('<think>', '</think>', '<thi', 'nk>', '</th', 'ink>', ' ', '\n', 'word', '<')
  fc.assert(fc.property(fc.array(part, { maxLength: 12 }).map((parts) => (
    parts.join('')
  )), fc.infiniteStream(fc.integer({ min: 1, max: 5 })), (text, sizes) => {
    const filter = new ReasoningFilter()
    let given = ''
    for (let at = 0; at < text.length;) {
      const size = sizes.next().value as number
      given += filter.push(text.slice(at, at + size))
      at += size
    }
    // White space after a thought that comes in a piece of its own is left to the reader of the stream.
    return (given + filter.end()).trimStart() === withoutReasoning(text).trimStart()
  }))
  t.pass()
})

t.test('what is held back is read once, however many pieces it comes in', async (t) => {
  const { trimStart, startsWith } = String.prototype
  let read = 0
  const counted = [
    mock.method(String.prototype, 'trimStart', function (this: string) {
      read += this.length
      return trimStart.call(this)
    }),
    mock.method(String.prototype, 'startsWith', function (this: string, ...given: [string, number?]) {
      read += given[0].length
      return startsWith.apply(this, given)
    }),
  ]
  t.teardown(() => { for (const { mock } of counted) mock.restore() })
  for (const piece of [' ', '\n'.repeat(10), '<think>']) {
    const filter = new ReasoningFilter()
    read = 0
    for (let sent = 0; sent < 2000; sent++) filter.push(piece)
    filter.end()
    t.ok(read <= 2000 * (piece.length + 20), `${read} characters are read of 2000 pieces of ${piece.length}`)
  }
})
