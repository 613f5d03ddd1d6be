import fc from '../../helpers/fast-check.js'
import t from 'tap'
import { sentencesOf } from '../../../lib/text/analysis.js'

const sentences = (text: string) => sentencesOf(text)

function split (text: string): string[] {
  return sentences(text).map(({ start, end }) => text.slice(start, end))
}

/** The same rules over the whole text at once. */
function splitWhole (text: string): string[] {
  const segments = new Intl.Segmenter('en', { granularity: 'sentence' }).segment(text)
  return [...segments].map(({ segment }) => segment.trim()).filter((sentence) => sentence !== '')
}

const cases: Array<[about: string, text: string, expected: string[]]> = [
  ['English ends a sentence at . ? and !', 'Hi there. How are you?  Fine!', ['Hi there.', 'How are you?', 'Fine!']],
  [
    'a number or a dotted name is no end', 'It costs 3.50 at example.com today. Yes.',
    ['It costs 3.50 at example.com today.', 'Yes.'],
  ],
  [
    'an abbreviation before a small letter is no end', 'Bring fruit, e.g. apples. Thanks.',
    ['Bring fruit, e.g. apples.', 'Thanks.'],
  ],
  ['a line feed is an end', 'Title\n- one\r\n- two\n\n', ['Title', '- one', '- two']],
  [
    'a closing quotation mark stays with its sentence', 'He said “Go.” Then he left.',
    ['He said “Go.”', 'Then he left.'],
  ],
  ['Chinese', '今天天气很好。我们去公园吧！好吗？', ['今天天气很好。', '我们去公园吧！', '好吗？']],
  ['Japanese', '東京に行きます。元気ですか？', ['東京に行きます。', '元気ですか？']],
  ['Korean', '안녕하세요. 잘 지내요?', ['안녕하세요.', '잘 지내요?']],
  ['Hindi', 'मैं ठीक हूँ। तुम कैसे हो?', ['मैं ठीक हूँ।', 'तुम कैसे हो?']],
  ['Arabic', 'كيف حالك؟ أنا بخير.', ['كيف حالك؟', 'أنا بخير.']],
  ['Thai, which has no full stop, is one sentence a line', 'สวัสดีครับ\nสบายดีไหม', ['สวัสดีครับ', 'สบายดีไหม']],
  ['French', 'Où es-tu ? À l’école. Déjà !', ['Où es-tu ?', 'À l’école.', 'Déjà !']],
  ['an emoji after the full stop begins the next sentence', 'Great. 🎉 Party!', ['Great.', '🎉 Party!']],
  ['blank text has none', ' \n\t\u00a0', []],
  ['empty text has none', '', []],
]

for (const [about, text, expected] of cases) {
  await t.test(about, async (t) => {
    t.strictSame(split(text), expected)
  })
}

await t.test('offsets count UTF-16 units and leave out the white space around a sentence', async (t) => {
  t.strictSame(sentences('  👍 ok.  Bye. '), [{ start: 2, end: 8 }, { start: 10, end: 14 }])
})

await t.test('a long text is split as it would be in one piece', async (t) => {
  const paragraph = 'A first sentence. Another one, somewhat longer than the first? Yes!\r\n- item 1.5\n😀 Done… “So.” '
  const text = paragraph.repeat(200)
  t.strictSame(split(text), splitWhole(text))
  // Every alignment of a line end, a pair of surrogates and a full stop with the end of a window.
  for (let shift = 0; shift < paragraph.length; shift++) {
    const shifted = 'x'.repeat(shift) + paragraph.repeat(45)
    t.strictSame(split(shifted), splitWhole(shifted), `shifted by ${shift}`)
  }
})

await t.test('sentences longer than a window stay whole', async (t) => {
  const long = 'Words ' + 'and words '.repeat(1_500) + 'end.'
  t.strictSame(split(`Hi. ${long} Next. ${long}`), ['Hi.', long, 'Next.', long])
})

await t.test('the time grows linearly with the length of a text', async (t) => {
  const start = process.cpuUsage()
  t.equal(sentences('a\n'.repeat(100_000)).length, 100_000)
  const { user, system } = process.cpuUsage(start)
  // Some 0.3 s of CPU time; 18 s when ICU is given the whole text.
  t.ok((user + system) / 1e6 < 4)
})

await t.test('any string gives spans that are ordered, in range, trimmed and leave out only white space', async (t) => {
  const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code))
  const pieces = fc.oneof(unit, fc.string({ unit: 'grapheme', maxLength: 8 }), fc.constantFrom(
    '. ', '\n', '\r\n', '? A', ' ', '\ud83d', '。',
  ))
  t.doesNotThrow(() => fc.assert(fc.property(fc.array(pieces, { maxLength: 30 }).map((parts) => (
    parts.join('')
  )), (text) => {
    let at = 0
    for (const { start, end } of sentences(text)) {
      const sentence = text.slice(start, end)
      if (start < at || end <= start || end > text.length) throw new Error(`bad span ${start}–${end} after ${at}`)
      if (sentence.trim() !== sentence) throw new Error(`not trimmed: ${JSON.stringify(sentence)}`)
      if (text.slice(at, start).trim() !== '') throw new Error(`lost: ${JSON.stringify(text.slice(at, start))}`)
      at = end
    }
    if (text.slice(at).trim() !== '') throw new Error(`lost at the end: ${JSON.stringify(text.slice(at))}`)
  }), { numRuns: 300 }))
})
