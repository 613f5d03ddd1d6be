import assert from 'node:assert/strict'
import fc from '../../helpers/fast-check.js'
import t from 'tap'
import { words } from '../../../lib/text/words.js'

const anyText = fc.oneof(
  fc.array(fc.integer({ min: 0, max: 0x10ffff }), { maxLength: 60 }).map((points) => String.fromCodePoint(...points)),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  // Lone surrogates come with single code units.
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 60 }).map((units) => String.fromCharCode(...units)),
)

const cases: Array<[about: string, text: string, expected: string[]]> = [
  [
    'plain English is lower-cased and split at everything that is no letter or number',
    'Hello, World! snake_case 3.14 2023-05-08', ['hello', 'world', 'snake', 'case', '3', '14', '2023', '05', '08'],
  ],
  ['repeats stay, in order', 'b a b', ['b', 'a', 'b']],
  ['an apostrophe inside a word joins it', "don't O'Brien rock'n'roll", ['dont', 'obrien', 'rocknroll']],
  ['a typographic apostrophe is an apostrophe', 'don’t O’Brien п’ять', ['dont', 'obrien', 'пять']],
  ['a possessive s is dropped', "Alice's dogs' café’s", ['alice', 'dogs', 'cafe']],
  ['quotation marks around a word are no part of it', "'quoted' ’tis", ['quoted', 'tis']],
  [
    'French accents are folded', 'Élève à l’école, garçon, CŒUR, naïve Noël',
    ['eleve', 'a', 'lecole', 'garcon', 'cœur', 'naive', 'noel'],
  ],
  ['a letter and its accent are one, composed or not', 'caf\u00e9 cafe\u0301', ['cafe', 'cafe']],
  ['compatibility forms are spelled out', 'ﬁne Ⅻ ＡＢＣ ｶﾞｷﾞ', ['fine', 'xii', 'abc', 'ガギ']],
  ['Turkish dotted capital I is i', 'İstanbul', ['istanbul']],
  ['Russian and Greek are words as they stand', 'Привет, мир! ΟΔΟΣ', ['привет', 'мир', 'οδος']],
  ['Chinese is split into overlapping pairs', '东京在日本。', ['东京', '京在', '在日', '日本']],
  ['a lone Chinese character is a word', '我 a 你', ['我', 'a', '你']],
  ['Japanese kanji and kana pair with each other', '東京に行く コーヒー', ['東京', '京に', 'に行', '行く', 'コー', 'ーヒ', 'ヒー']],
  ['Korean is split into overlapping pairs within each spaced word', '한국어 검색', ['한국', '국어', '검색']],
  ['Thai is split into pairs of characters with their marks', 'สวัสดี', ['สวั', 'วัส', 'สดี']],
  ['Lao, Khmer and Burmese are split into pairs', 'ລາວ ខ្មែរ မြန်မာ', ['ລາ', 'າວ', 'ខ្មែ', 'មែរ', 'မြန်', 'န်မာ']],
  [
    'a run of mixed scripts is split where the script changes', 'GPT4を使う 2023年 Kim한국',
    ['gpt4', 'を使', '使う', '2023', '年', 'kim', '한국'],
  ],
  ['an apostrophe between scripts leaves nothing behind', "한'국 漢's", ['한', '국', '漢']],
  ['Hindi keeps its vowel signs', 'हिन्दी में खोज', ['हिन्दी', 'में', 'खोज']],
  ['an invisible joiner does not split or change a Hindi word', 'क्\u200dषेत्र', ['क्षेत्र']],
  ['a soft hyphen does not split a word', 'co\u00adoperate', ['cooperate']],
  ['Arabic is split at spaces', 'مرحبا بالعالم، كيف', ['مرحبا', 'بالعالم', 'كيف']],
  ['each emoji is a word, without skin tone or variation selector', 'ok👍🏽❤️ 👩‍💻', ['ok', '👍', '❤', '👩', '💻']],
  ['a flag is one word', '🇫🇷🇯🇵', ['🇫🇷', '🇯🇵']],
  ['a keycap is its digit', '1️⃣', ['1']],
  ['a trade sign is no part of the name before it', 'Acme™ Foo®', ['acme', 'foo']],
  ['a text without words has none', ' \n—…!?', []],
  ['an empty text has none', '', []],
]

for (const [about, text, expected] of cases) {
  await t.test(about, async (t) => {
    t.same(words(text), expected)
  })
}

await t.test('a very long word is cut to 64 units, never inside a character', async (t) => {
  t.same(words('a'.repeat(65)), ['a'.repeat(64)])
  t.same(words('é'.repeat(100)), ['e'.repeat(64)])
  t.same(words('x' + '𐐨'.repeat(60)), ['x' + '𐐨'.repeat(31)], 'the half of a pair at the cut is left out')
})

await t.test('ASCII text is split into the same words as beside other letters', async (t) => {
  t.doesNotThrow(() => fc.assert(fc.property(fc.string({ unit: 'binary-ascii', maxLength: 80 }), (text) => {
    assert.deepEqual(words(`${text} é`), [...words(text), 'e'])
  })))
})

await t.test('any string gives non-empty words of bounded length, and each word gives itself again', async (t) => {
  t.doesNotThrow(() => fc.assert(fc.property(anyText, (text) => {
    const found = words(text)
    for (const word of found) {
      if (word === '' || word.length > 64 || !word.isWellFormed()) throw new Error(`bad word ${JSON.stringify(word)}`)
    }
    // What the index holds can be asked for: a word of a text, as a query, gives itself.
    for (const word of found) {
      if (words(word).join(' ') !== word) throw new Error(`${JSON.stringify(word)} is not stable`)
    }
  }), { numRuns: 1_000 }))
})

await t.test('an accent or a change of case never changes the words', async (t) => {
  t.doesNotThrow(() => fc.assert(fc.property(fc.string({
    unit: fc.constantFrom(...'abcxyz 019'), maxLength: 40,
  }), (text) => {
    const accented = text.replace(/[a-z]/g, '$&\u0301')
    assert.deepEqual(words(accented.toUpperCase()), words(text))
  })))
})

t.test('a run of combining marks of any script is ordered piece by piece', async (t) => {
  const [word, ...more] = words(`\u0915${'\u0652\u064b'.repeat(400_000)}`)
  t.equal(word?.length, 64)
  t.same(more, [])
})
