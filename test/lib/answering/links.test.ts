import assert from 'node:assert/strict'
import t from 'tap'
import { CitationFilter } from '../../../lib/answering/citations.js'
import { readProse } from '../../../lib/answering/markup.js'
import { FENCE } from '../../../lib/answering/sentence-reader.js'
import { filterCitations } from '../../helpers/citations.js'
import fc, { runs } from '../../helpers/fast-check.js'

const SOURCE_TEXTS = [
  'See https://ok.example/a_(b)?c=1, or (http://other.example).', 'An unfinished https://evil.example/?q= stands here.',
]

function shown (text: string): string {
  return filterCitations(text, 3, { sourceTexts: SOURCE_TEXTS }).text
}

const CASES: Array<[written: string, given: string]> = [
  ['![chart](https://ok.example/a_(b)?c=1) [1]', 'chart [1]'],
  ['A ![](http://evil.example/?d=1)picture [1]', 'A picture [1]'],
  ['![a](/b.png) [1]', 'a [1]'],
  ['[text](http://evil.example/x) [1]', 'text [1]'],
  ['[text](http://evil.example/x "title") [1]', 'text [1]'],
  ['[text](<http://evil.example/x y>) [1]', 'text [1]'],
  ['[text](//evil.example/x) [text](javascript:alert(1)) [a](mailto:x@y.z) [b](&#104;ttp:x) [1]', 'text text a b [1]'],
  ['[text](https://ok.example/a_(b)?c=1) [1]', '[text](https://ok.example/a_(b)?c=1) [1]'],
  ['[text](http://other.example "title") [1]', '[text](http://other.example "title") [1]'],
  ['[![a](http://e.example/1)](http://e.example/2) [1]', 'a [1]'],
  ['[1](http://evil.example/x) tea', '[1] tea'],
  ['[a [b] c](http://evil.example/x) [1]', 'a [b] c [1]'],
  ['[A. Title. Long](http://evil.example/x) [1]', 'A. Title. Long [1]'],
  ['Bare http://evil.example/?d=x and www.evil.example/y here [1].', 'Bare and here [1].'],
  ['Bare (http://evil.example/x), _http://evil.example/x_ [1].', 'Bare, __ [1].'],
  [
    'Bare https://ok.example/a_(b)?c=1. And (http://other.example) [1].',
    'Bare https://ok.example/a_(b)?c=1. And (http://other.example) [1].',
  ],
  ['More https://ok.example/a_(b)?c=1&d=secret [1]', 'More [1]'],
  ['More https://evil.example/?q=secret [1]', 'More [1]'],
  [
    'Both [a](https://ok.example/a_(b)?c=1)x and https://ok.example/a_(b)?c=1[1] "https://ok.example/a_(b)?c=1".',
    'Both [a](https://ok.example/a_(b)?c=1)x and https://ok.example/a_(b)?c=1 [1] "https://ok.example/a_(b)?c=1".',
  ],
  [
    'Data https://evil.example/?q="secret" https://evil.example/?q=“secret https://evil.example/?q=[secret] [1]',
    'Data https://evil.example/?q= "secret" https://evil.example/?q= “secret] [1]',
  ],
  [
    '<http://evil.example/x> <https://ok.example/a_(b)?c=1> <alice@a.example> [1]',
    '<https://ok.example/a_(b)?c=1> <alice@a.example> [1]',
  ],
  ['<img src="//evil.example/x">a <a href=\'x\'>b</a> <script>c</script> <!-- d --> <br/> [1]', 'a b c  <br/> [1]'],
  ['List<String> a<b and 1 < 2, i <3 u [1]', 'List<String> a< b and 1 < 2, i <3 u [1]'],
  [
    'Text [label][ref] and ![alt][ref] [1].\n\n[ref]: http://evil.example/x\n> [r2]: <//evil.example/x> "t"',
    'Text label and alt [1].',
  ],
  ['[ref]: https://ok.example/a_(b)?c=1 [1]', '[ref] : https://ok.example/a_(b)?c=1 [1]'],
  ['[Note]: Alice [1]', '[Note] : Alice [1]'],
  ['[1]: //evil.example/x\nTea [1].', 'Tea [1].'],
  ['[1]: Tea.', '[1] Tea.'],
  ['Matrix m[i][j] and f[i](n) [1].', 'Matrix m[i][j] and f[i] (n) [1].'],
  ['[a]<x y="">(//evil.example) [1]', '[a] (//evil.example) [1]'],
  ['[a][9](//evil.example) [1]', '[a] [1]'],
  ['[a] [9](//evil.example) [1]', '[a] [1]'],
  ['http:[9]//evil.example/x [1]', '[1]'],
  ['<[9]img src=//evil.example> [1]', '< img src=//evil.example> [1]'],
  ['[a\nb](//evil.example) [1]', '[a\nb] (//evil.example) [1]'],
  ['[a](\n//evil.example) [1]', '[a] (\n//evil.example) [1]'],
  ['[a\nb]: //evil.example [1]', '[a\nb] : //evil.example [1]'],
  ['<img\nsrc=//evil.example> [1]', '< img\nsrc=//evil.example> [1]'],
  [
    'Code `![x](http://evil.example/y)` and `a[i](b)` `<img src=//evil.example>` `x<std::string>` [1]',
    'Code `x ` and `a[i](b)` ` ` `x<std::string>` [1]',
  ],
  ['```\ncurl http://evil.example/x -o y\n![a](//evil.example)\n```\n[1]', '```\ncurl -o y\na \n```\n[1]'],
  ['見て https://evil.example/?q=。secret。次。[1]', '見て https://evil.example/?q=。 secret。次。[1]'],
  ['見て，http://evil.example/x。次 [1]', '見て，。次 [1]'],
]

for (const [written, given] of CASES) {
  t.test(JSON.stringify(written), async (t) => {
    t.equal(shown(written), given)
    const filter = new CitationFilter(3, { sourceTexts: SOURCE_TEXTS })
    const pieces = written.split('').map((piece) => filter.push(piece)).join('')
    t.equal(pieces + filter.end().text, given, 'in pieces')
  })
}

t.test('without the texts of sources no address is shown', async (t) => {
  t.equal(filterCitations('[a](https://ok.example) https://ok.example [1]', 1).text, 'a [1]')
})

t.test('blanks in the place of a link target take linear time', async (t) => {
  const link = `[text](${' '.repeat(19_000)}/a b) `
  const line = `[text](${' '.repeat(19_000)}/b "title") [1]\n`
  t.equal(shown(line.repeat(100)), Array(100).fill('text [1]').join('\n'))
  t.notMatch(shown(`${link.repeat(100)}[1]`), /\]\([^)]*title/)
})

t.test('brackets that share a closing one take linear time', async (t) => {
  let characters = 0
  const allowed = new class extends Set<string> {
    override has (address: string): boolean {
      characters += address.length
      return super.has(address)
    }
  }()
  const text = `${'<b'.repeat(5_000)}>`
  t.equal(readProse(text, { sources: 1, allowed, numbers: new Map() }).text, `${'< b'.repeat(4_999)}<b>`)
  // With all that each of them contains it would be 25,000,000 characters.
  t.ok(characters <= text.length, `${characters} characters are looked up`)
})

t.test('a target has at most 32 pairs of brackets in each other, as renderers allow', async (t) => {
  const nested = (depth: number) => `${'[x](/'.repeat(depth)}${')'.repeat(depth)} [1]`
  t.equal(shown(nested(33)), 'x [1]')
  t.equal(shown(nested(35)), '[x] (/[x] (/x)) [1]')
})

t.test('a line of tildes that is no fence is read once, not once for each length of a fence', async (t) => {
  const line = `${'~'.repeat(19_900)}\`\n`
  t.equal(shown(`${line}So. [1]`), `${line}So. [1]`)
  // Once for each length, it would take an hour.
  t.equal(FENCE.exec('~'.repeat(2_000_000) + '`'), null)
})

/**
 * What Markdown or HTML would load or link to (CommonMark 0.31, GFM autolinks), roughly and rather too much than too
 * little.
 */
const LEAK = new RegExp([
  String.raw`!\[[^\]]*\]\(`,
  String.raw`\]\(\s*<?(?!https:\/\/ok\.example)`,
  String.raw`^\s*\[[^\]]+\]:\s`,
  String.raw`<(?:img|a|script)(?![\w-])`,
  String.raw`(?:https?:\/\/(?!ok\.example)|(?<![a-z0-9])www\.)\w`,
  String.raw`https:\/\/ok\.example[^\s\w<>)]*\w`,
].join('|'), 'im')

t.test('no combination of parts results in a link to another address', async () => {
  const part = fc.constantFrom(
    '!', '[', ']', '(', ')', '<', '>', 'a', 'img', ' src=', '"', 'http', ':', '//', 'evil.example', 'www.',
    'https://ok.example', '[9]', '[1]', '【9】', ' ', '. ', '。', '\n', '\u200b', '<x y="">', '(http://e.example)',
    '![x](//e.example)', '[x][y]', '|', '- ', '\\',
  )
  fc.assert(fc.property(fc.array(part, { maxLength: 25 }).map((parts) => parts.join('')), (answer) => {
    const { text } = filterCitations(answer, 3, { sourceTexts: ['https://ok.example'] })
    assert.doesNotMatch(text, LEAK)
  }), { numRuns: runs(500, 5000) })
})
