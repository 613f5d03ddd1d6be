import fc from 'fast-check'
import t from 'tap'
import { firstCharacters, textPartsOf } from '../../console/src/text/visible-text.js'

const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u

/** Tab, line feed, joiners and the first variation selectors. */
function isPartOfOthers (character: string): boolean {
  const code = character.codePointAt(0) ?? 0
  return [0x9, 0xa, 0x200c, 0x200d].includes(code) || (code >= 0xfe00 && code <= 0xfe0f)
}

/** The text as it is shown, with the labels of hidden characters in brackets. */
function shown (text: string): string {
  return textPartsOf(text).map((part) => typeof part === 'string' ? part : `[${part.label}]`).join('')
}

t.test('characters that a reader would not see are named', async (t) => {
  t.equal(shown('plain, with\ttabs\nand lines'), 'plain, with\ttabs\nand lines')
  t.equal(shown('pay\u200bpal'), 'pay[ZWSP]pal')
  t.equal(shown('user\u202egnp.exe'), 'user[RLO]gnp.exe')
  t.equal(shown('a\u2066b\u2069c\ufeffd\u00ade\u2060'), 'a[LRI]b[PDI]c[BOM]d[SHY]e[WJ]')
  t.equal(shown('\u001b[31mred\u0000'), '[ESC][31mred[NUL]')
  t.equal(shown('one\r\ntwo\rthree'), 'one\ntwo[CR]three')
  t.equal(shown('\u{e0041}'), '[U+E0041]')
  t.same(textPartsOf('\u{e0041}'), [{ label: 'U+E0041', name: 'U+E0041 tag character' }])
  t.same(textPartsOf('\u202e'), [{ label: 'RLO', name: 'U+202E right-to-left override' }])
  t.equal(shown('half \ud83d of a character'), 'half [U+D83D] of a character')
})

t.test('characters that scripts and emoji need are kept', async (t) => {
  for (const text of ['👩‍👩‍👧‍👦 family', '❤️', 'می‌خواهم', 'क्‍ष', 'e\u0301', 'שלום עולם', '🏳️‍🌈']) {
    t.equal(shown(text), text)
  }
  t.equal(shown('a\u200db'), 'a[ZWJ]b', 'a joiner that joins nothing')
  t.equal(shown(' \ufe0f'), ' [U+FE0F]')
})

t.test('a long run of combining marks is cut', async (t) => {
  t.equal(shown(`z${'\u0301'.repeat(40)}x`), `z${'\u0301'.repeat(4)}[+36]x`)
  t.equal(shown('\u0301'.repeat(5)), `${'\u0301'.repeat(4)}[+1]`)
})

t.test('in any text nothing invisible is shown, and nothing visible is lost', async () => {
  const texts = fc.string({ unit: 'binary', maxLength: 60 })
  fc.assert(fc.property(texts, (text) => {
    const visible = textPartsOf(text).filter((part) => typeof part === 'string').join('')
    const suspect = [...visible].filter((character) => INVISIBLE.test(character))
    if (!suspect.every((character) => isPartOfOthers(character))) return false
    const plain = (from: string) => (
      [...from].filter((character) => !INVISIBLE.test(character) && !/\p{M}|\p{Co}/u.test(character)).join('')
    )
    return plain(visible) === plain(text)
  }))
})

t.test('a text is never cut within a character', async (t) => {
  t.equal(firstCharacters('abc', 3), 'abc')
  t.equal(firstCharacters('ab😀', 3), 'ab')
  t.equal(firstCharacters('ab😀', 4), 'ab😀')
  t.equal(firstCharacters('ab😀c', 4), 'ab😀')
})
