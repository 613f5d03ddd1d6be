import assert from 'node:assert/strict'
import fc, { runs } from '../../helpers/fast-check.js'
import t from 'tap'
import { chunksOf, passageSpans } from '../../../lib/ranking/passages.js'
import { indexedPassages } from '../../../lib/stores/passages.js'

const chunk = (text: string, maxCharacters: number) => chunksOf(text, maxCharacters)

function pieces (text: string, maxCharacters: number): string[] {
  return chunk(text, maxCharacters).map(({ start, end }) => text.slice(start, end))
}

/** Texts with everything that can go wrong at a cut: pairs, marks, white space of every kind, long words, sentences. */
const part = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      'a', 'word', 'Sentence', '. ', '! ', '? ', ' ', '  ', '\n', '\n\n', '\t', '\u00a0', '\u3000', '\u2028', '\ufeff',
      '。', ',',
    ),
  },
  { weight: 2, arbitrary: fc.constantFrom('😀', '👩‍👩‍👧', '𠮷', '東京', 'e\u0301', 'שלום', '🇫🇷') },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 60 }).map((n) => 'x'.repeat(n)) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 20 }).map((n) => '😀'.repeat(n)) },
)
const text = fc.array(part, { maxLength: 60 }).map((parts) => parts.join(''))

t.test('a text that fits is one passage over all of it', async (t) => {
  const passages = ['One. Two.', ''].flatMap((text) => (
    indexedPassages({ text, speaker: null }, passageSpans(text, 9))
  ))
  t.strictSame(passages.map(({ start, end }) => [start, end]), [[0, 9], [0, 0]])
})

t.test('a longer text is cut at the ends of sentences, as many as fit together', async (t) => {
  t.strictSame(pieces('One is here. Two is here. Three is here.', 26), ['One is here. Two is here.', 'Three is here.'])
  t.strictSame(pieces('One is here. Two is here. Three is here.', 25), ['One is here. Two is here.', 'Three is here.'])
  t.strictSame(
    pieces('One is here. Two is here. Three is here.', 24), ['One is here.', 'Two is here.', 'Three is here.'],
  )
})

t.test('a sentence that is too long is cut between words', async (t) => {
  t.strictSame(pieces('one two three four five six', 10), ['one two', 'three four', 'five six'])
})

t.test('a word that is too long is cut between characters', async (t) => {
  t.strictSame(pieces('abcdefghij', 4), ['abcd', 'efgh', 'ij'])
  t.strictSame(pieces('😀😀😀', 3), ['😀', '😀', '😀'])
})

t.test('a cut between words fills at least half of the limit', async (t) => {
  t.strictSame(pieces('ab cdefghijklmnop', 10), ['ab cdefghi', 'jklmnop'])
})

t.test('text after a long sentence joins its last piece if it fits', async (t) => {
  t.strictSame(pieces('one two three four. Five.', 14), ['one two three', 'four. Five.'])
})

t.test('passages are in order, apart, within the limit, and cover all but white space without splitting ' +
  'a character', async () => {
  fc.assert(fc.property(text, fc.integer({ min: 3, max: 50 }), (text, maxCharacters) => {
    const spans = chunk(text, maxCharacters)
    let last = 0
    for (const { start, end } of spans) {
      assert.ok(start >= last, 'in order and apart')
      assert.equal(text.slice(last, start).trim(), '', 'between passages there is white space only')
      assert.ok(end - start <= maxCharacters, `${end - start} is over ${maxCharacters}`)
      assert.ok(end > start || text === '', 'no passage is empty')
      assert.ok(text.slice(start, end).isWellFormed(), 'no half of a pair')
      last = end
    }
    assert.equal(text.slice(last).trim(), '', 'no text is left over')
    if (text.length > maxCharacters) {
      for (const piece of pieces(text, maxCharacters)) {
        assert.ok(/^\S/u.test(piece), 'a passage begins with something to read')
      }
    }
  }), { numRuns: runs(500, 3000) })
})

t.test('a text of the maximum length is split in linear time', async (t) => {
  for (const unit of ['a', '😀', 'word ', 'One. ', '\n', '. ']) {
    const text = `${unit.repeat(50_000 / unit.length)}x`
    const spans = chunk(text, 200)
    t.equal(spans.at(-1)?.end, text.length, JSON.stringify(unit))
    t.ok(spans.every(({ start, end }) => end - start <= 200))
  }
})
