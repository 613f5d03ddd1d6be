import t from 'tap'
import { foldCase, foldingTable } from '../../../lib/text/normal-form.js'

const CHARACTERS = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code)).filter((character) => (
  character.toLowerCase() !== character || character.toUpperCase() !== character
))

t.test('every character with case folds to one, which folds to itself and which the table has for it', (t) => {
  const folded = new Set(CHARACTERS.map(foldCase))
  const { from, to } = foldingTable([...folded])
  const table = new Map([...from].map((character, index) => [character, [...to][index]!]))
  const wrong = CHARACTERS.filter((character) => {
    const fold = foldCase(character)
    return [...fold].length !== 1 || foldCase(fold) !== fold || (table.get(character) ?? character) !== fold
  })
  t.strictSame(wrong, [])
  t.ok(CHARACTERS.length > 2500)
  t.end()
})

t.test('texts that differ in case alone are equal, whatever their letters stand beside', (t) => {
  for (const [a, b] of [
    ['Caroline', 'cAROLINE'], ['ΣΑΣ', 'σας'], ['КАРОЛИНА', 'каролина'], ['Ǆ', 'ǅ'], ['\u{10400}', '\u{10428}'],
    ['\u212a', 'k'], ['Straße', 'STRAẞE'],
  ] as const) t.equal(foldCase(a), foldCase(b))
  t.not(foldCase('Zoe'), foldCase('Zoë'))
  t.not(foldCase('gross'), foldCase('groß'))
  t.end()
})

t.test('the table has only the letters of the texts', (t) => {
  t.strictSame(foldingTable(['ab', 'b1']), { from: 'AB', to: 'ab' })
  t.strictSame(foldingTable([]), { from: '', to: '' })
  t.end()
})
