import assert from 'node:assert/strict'
import t from 'tap'
import { CitationFilter, type FilteredAnswer } from '../../../lib/answering/citations.js'
import { NO_ANSWER } from '../../../lib/answering/marks.js'
import { anyUtf16 } from '../../helpers/arbitraries.js'
import { filterCitations } from '../../helpers/citations.js'
import fc, { runs } from '../../helpers/fast-check.js'

const SOURCES = [
  'Alice lives in Lyon. See https://ok.example/a?b=1 for more.', 'Bob drinks tea.', 'Carol plays the cello.',
]

function shown (text: string, sources = 3): string {
  return filterCitations(text, sources).text
}

function inPieces (pieces: readonly string[], sources = 3): FilteredAnswer & { pieces: string[] } {
  const filter = new CitationFilter(sources, { sourceTexts: SOURCES })
  const given = pieces.map((piece) => filter.push(piece))
  const last = filter.end()
  return { ...last, text: given.join('') + last.text, pieces: given }
}

const MARKS: Array<[written: string, given: string]> = [
  ['Tea [2].', 'Tea [1].'],
  ['Tea [1, 2].', 'Tea [1][2].'],
  ['Tea [1;2] [1 and 3].', 'Tea [1][2] [1][3].'],
  ['Tea [1][2].', 'Tea [1][2].'],
  ['Tea [1-3].', 'Tea [1][2][3].'],
  ['Tea [2–3].', 'Tea [1][2].'],
  ['Tea [1-999999999999].', 'Tea [1][2][3].'],
  ['Tea [^2].', 'Tea [1].'],
  ['Tea 【1】.', 'Tea [1].'],
  ['Tea 【2†notes.txt】.', 'Tea [1].'],
  ['Tea [source 2].', 'Tea [1].'],
  ['Tea [Source: 2, source 3].', 'Tea [1][2].'],
  ['Tea [ 2 ].', 'Tea [1].'],
  ['Tea [2, 2].', 'Tea [1].'],
  ['Lyon[1] it is.', 'Lyon[1] it is.'],
  ['[1] Tea.', '[1] Tea.'],
  ['Tea [9][1].', 'Tea [1].'],
  ['Tea [1] [9] and more.', 'Tea [1] and more.'],
  ['Tea [1, 9].', 'Tea [1].'],
  ['Tea [0] and coffee [1].', 'Tea and coffee [1].'],
  [`Tea [${'9'.repeat(500)}] and [1].`, 'Tea and [1].'],
  ['Great![1]', 'Great![1]'],
]

for (const [written, given] of MARKS) {
  t.test(`marks: ${written.slice(0, 40)}`, async (t) => { t.equal(shown(written), given) })
}

t.test('a text that is not a mark stays unchanged', async (t) => {
  for (const text of [
    'Item (1) of [a] and [1.5] at [12:30] on [2019-05-04], - [ ] open [sic] [] [x] [1/2] [A1].', '- [x] done [1]',
    'f(x)[i] = [a, b]',
  ]) {
    t.equal(shown(text), text)
  }
})

t.test('a lone year in square brackets gets round ones, unless a source has its number', async (t) => {
  t.equal(shown('The treaty [1648] stands [1].'), 'The treaty (1648) stands [1].')
  t.equal(shown('The wars [1618-1648] ended [1].'), 'The wars (1618-1648) ended [1].')
  t.strictSame(filterCitations('Many [1648].', 2000).cited, [1648])
  t.equal(shown('A [1]. Bad [3000].'), 'A [1].')
})

t.test('a sentence is cut as a whole when none of its marks names a source', async (t) => {
  t.match(
    filterCitations('Tea is hot. [1] It is cold [9]. Coffee too [4, 0]. Water [7][2].', 3),
    { text: 'Tea is hot. [1] Water [2].', cited: [1, 2], unverified: false },
  )
  t.equal(shown('Wrong [9]. Right [1].'), 'Right [1].')
})

t.test('marks after a full stop belong to the sentence before them', async (t) => {
  t.equal(
    shown('Alice lives in Lyon. [1] She plays. [9] Bob drinks. [2][3] End.'),
    'Alice lives in Lyon. [1] Bob drinks. [2][3] End.',
  )
  t.equal(shown('Alice lives in Lyon.[9] She plays.[1] Bob!” [9] Carol?) [2]'), 'She plays.[1] Carol?) [2]')
  t.equal(shown('東京に行きます。[1]元気です。【9】はい。[2]'), '東京に行きます。[1]はい。[2]')
})

t.test('abbreviations, initials, decimals and small letters end no sentence', async (t) => {
  for (const sentence of [
    'Dr. Smith met J. R. Tolkien at 3.50 on example.com, e.g. in the U.S. Senate',
    'He said “Go!” and went, cf. Miller et al. 2019', 'Nr. 5 z. B. hier',
  ]) {
    t.match(filterCitations(`${sentence} [9]. Right [1].`, 3), { text: 'Right [1].' }, sentence)
  }
})

t.test('a line that is cut is removed with its line break, its marker and a second blank line', async (t) => {
  t.equal(
    shown('List:\n- a [9].\n- b [1].\n  - c. [8]\n3. d [7] e.\n4. Foo. [9] Gee. [2]\n'), 'List:\n- b [1].\n4. Gee. [2]',
  )
  t.equal(shown('One. [1]\n\nTwo. [9]\n\nThree. [1]\n\n\nFour.'), 'One. [1]\n\nThree. [1]\n\n\nFour.')
  t.equal(shown('> # Bad [9]\r\n> Good [1]'), '> Good [1]')
  t.equal(shown('\n\nBad [9].\n\nGood [1].\n \n'), 'Good [1].')
})

t.test('a row of a table is cut as a whole', async (t) => {
  t.equal(
    shown('| Who | Where |\n|---|---|\n| Alice | Lyon. It is [9] |\n| Bob. | Oslo [1] |'),
    '| Who | Where |\n|---|---|\n| Bob. | Oslo [1] |',
  )
})

t.test('code contains no marks', async (t) => {
  const text = 'Use `arr[0]`. [1]\n\n```js\nconst a = [99]; b[0]\n\n// Done. [9]\n```\nThen [2].'
  t.match(filterCitations(text, 3), { text, cited: [1, 2] })
  t.match(
    filterCitations('~~~\na [1]\n~~~~\nBad [9]. Good.', 3),
    { text: '~~~\na [1]\n~~~~\nGood.', cited: [], unverified: true },
  )
  t.match(filterCitations('Open ` is [1] no code. Bad [9] ` x.', 3).cited, [])
})

t.test('an answer without a mark is shown and unverified', async (t) => {
  t.match(filterCitations('Alice lives in Lyon.', 3), {
    text: 'Alice lives in Lyon.', cited: [], unverified: true, abstained: false,
  })
})

t.test('an answer that would be cut completely is returned at the end, without its marks and unverified', async (t) => {
  const { pieces, ...answer } = inPieces(['- Alice lives in ', 'Lyon. [9]\n', '\n- Bob [7] drinks', ' tea [8].\n'])
  t.strictSame(pieces, ['', '', '', ''])
  t.strictSame(answer, {
    text: '- Alice lives in Lyon.\n\n- Bob drinks tea.', cited: [], unverified: true, abstained: false,
  })
})

t.test('sources are numbered in the order in which they are cited, without those of cut sentences', async (t) => {
  t.match(
    filterCitations('Bad [2, 9][7]. Worse [7]. C [3]. A [1]. C again [3][9], B [1-3].', 3),
    { text: 'Bad [1]. C [2]. A [3]. C again [2], B [3][1][2].', cited: [2, 3, 1] },
  )
  t.match(inPieces([...'C [3]. Both [1, 3]. B [2].']), { text: 'C [1]. Both [2][1]. B [3].', cited: [3, 1, 2] })
})

t.test('a sentence is shown as soon as the next one begins, and not before', async (t) => {
  const filter = new CitationFilter(3)
  t.equal(filter.push('Alice lives in Lyon. [1]'), '')
  t.equal(filter.push(' '), '')
  t.equal(filter.push('B'), 'Alice lives in Lyon. [1]')
  t.equal(filter.push('ob drinks tea. [2]\n'), ' Bob drinks tea. [2]')
  t.equal(filter.push('- Carol'), '')
  t.equal(filter.end().text, '\n- Carol')
})

t.test('abstentions are recognised', async (t) => {
  for (const text of [
    NO_ANSWER, ` ${NO_ANSWER}\n`, 'no_answer.', '"No_Answer"', '**NO_ANSWER**', '`NO_ANSWER`', '_NO_ANSWER_',
    '\u200bNO_\u200bANSWER', '“NO_ANSWER.”', 'NO_ANSWER [1]', 'NO_ANSWER NO_ANSWER', '**NO_ANSWER** [1].\n',
    'NO_ANSWER\n\nThe evidence does not say where Alice works.', 'NO_ANSWER – it names no employer. [9]',
  ]) {
    const { pieces, ...answer } = inPieces([...text])
    t.strictSame(pieces.join(''), '', text)
    t.strictSame(answer, { text: '', cited: [], unverified: false, abstained: true }, text)
  }
  for (const text of [
    'NO_ANSWERS [1]', 'NO_ANSWER_FOUND', 'NO ANSWER', 'NO_ANSW', 'The NO_ANSWER', '“', 'N',
  ]) {
    t.match(inPieces([...text]), { text, abstained: false }, text)
  }
  t.match(filterCitations('', 3), { text: '', abstained: false, unverified: true })
})

t.test('what follows the word of an abstention is shown once it cites a source, and without the word', async (t) => {
  for (const [text, expected] of [
    ['NO_ANSWER. Alice lived in Lyon [1].', 'Alice lived in Lyon [1].'],
    ['**NO_ANSWER** – not exactly. She lives in Lyon [1]. Ask her.', 'not exactly. She lives in Lyon [1]. Ask her.'],
    ['"no_answer"\n\n- Lyon [1]\n- tea [2]', 'Lyon [1]\n- tea [2]'],
  ] as const) {
    const { pieces, ...answer } = inPieces([...text])
    t.match(answer, { text: expected, abstained: false, unverified: false }, text)
    t.equal(pieces.slice(0, text.indexOf('[1]')).join(''), '', 'nothing is shown before a source is cited')
  }
})

t.test('so much around the word of an abstention is none, and is shown as it arrives', async (t) => {
  const around = '"\n'.repeat(1_000)
  const { pieces, text } = inPieces([around, `${NO_ANSWER} [1]`])
  t.ok(pieces[0]!.length > 1_900, 'not held until the answer ends')
  t.equal(text, `${around}${NO_ANSWER} [1]`)
  t.match(inPieces([`${NO_ANSWER}.`, ' '.repeat(2_000)]), { text: '', abstained: true })
})

t.test('hidden characters are removed, and joiners that emoji and scripts need are kept', async (t) => {
  t.equal(shown('Al\u200bice\u{e0041}\u{e0042} \u202elives\u202c here\ufeff [1].'), 'Alice lives here [1].')
  t.equal(shown('A\u200db\u200cc [1]\ufe0f\ufe0f\ufe0f.'), 'Abc [1]\ufe0f.')
  for (const text of ['👩‍👩‍👧 ❤️‍🔥 👍🏽 1️⃣ [1]', 'می‌خواهم [1]', 'क्‍ष [1]']) {
    t.equal(shown(text), text)
    t.equal(inPieces(text.split('')).text, text)
  }
  t.equal(shown('👩‍‍‍ x'), '👩‍ x')
  t.equal(inPieces(['a\ud83d', '\ude00b\ud83d', 'c\r', '\nd\re']).text, 'a😀b\ufffdc\nd\ne')
})

t.test('a sentence without an end is returned in parts, split at white space if there is any', async (t) => {
  const words = 'word and '.repeat(3_000)
  const { pieces, text } = inPieces([words, 'end [1].'])
  t.equal(text, `${words}end [1].`)
  t.ok(pieces[0]!.length > 19_000 && pieces[0]!.endsWith('d'))
  t.equal(inPieces(['😀'.repeat(25_000)]).text.replaceAll(' ', ''), '😀'.repeat(25_000))
})

const part = fc.oneof(
  fc.constantFrom('[1]', '[2, 3]', '[9]', '[0]', '[source 2]', '【1】', '[1-3]', '[', ']', '(', ')', '. ', '.',
    '。', '! ', '\n', '\r\n', '\n\n', '- ', '1. ', '| ', '> ', '# ',
    '`', '```', '~~~\n', ' ', 'Alice', 'lives', 'Dr', 'é', '👩‍👧', '\u200d', '\u200b', '\u{e0041}', '<', '>',
    '<img src=x>', '<b>', '![', '](', ']: ', '://', 'http://evil.example/?d=1',
    'https://ok.example/a?b=1', '[x](https://ok.example/a?b=1)', '[x](//evil)', 'www.evil.example', 'NO_ANSWER', '_',
    '"', ':', '!', '[a]'),
  fc.string({ maxLength: 5 }),
  anyUtf16,
)
const anyAnswer = fc.array(part, { maxLength: 40 }).map((parts) => parts.join(''))

t.test('the result does not depend on where the text is split into pieces', async () => {
  fc.assert(fc.property(anyAnswer, fc.array(fc.nat(200), { maxLength: 20 }), (answer, cuts) => {
    const whole = filterCitations(answer, 3, { sourceTexts: SOURCES })
    const places = [...new Set([0, ...cuts.filter((cut) => cut < answer.length), answer.length])].sort((a, b) => a - b)
    for (const pieces of [places.slice(1).map((end, index) => answer.slice(places[index], end)), answer.split('')]) {
      const { pieces: _, ...answered } = inPieces(pieces)
      assert.deepEqual(answered, whole)
    }
  }), { numRuns: runs(200, 1000) })
})

t.test('outside of code the marks that are shown are numbered in their order, and each is reported', async () => {
  fc.assert(fc.property(anyAnswer.map((answer) => answer.replaceAll(/[`~]/g, '')), (answer) => {
    const { text, cited, unverified, abstained } = filterCitations(answer, 3, { sourceTexts: SOURCES })
    const marks = new Set([...text.matchAll(/\[(\d+)\]/g)].map(([, number]) => Number(number)))
    assert.deepEqual([...marks], cited.map((_, index) => index + 1), text)
    assert.equal(unverified, !abstained && cited.length === 0)
    assert.ok(text.isWellFormed())
  }), { numRuns: runs(200, 1000) })
})

t.test('a long answer of one kind of text is read to its end', async (t) => {
  const text = (unit: string) => unit.repeat(Math.ceil(100_000 / unit.length))
  for (const unit of [
    '[', ']', '![', '](', '[](', '((', '<a ', '<', '. [', '. ', '【', '`', 'a`b``', 'http://', 'www.', '[a][b]', '> ',
    '- ', '"', '_', '[1', '[1,', '*. ', '\n', '1. ', '|\n', '```\n', ' ',
  ]) {
    t.ok(filterCitations(`${text(unit)}\nThe end [1].`, 3).text.endsWith('The end [1].'), unit)
  }
})
