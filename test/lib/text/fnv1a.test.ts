import assert from 'node:assert/strict'
import t from 'tap'
import { fnv1a, fnv1aOfPart } from '../../../lib/text/words.js'
import fc from '../../helpers/fast-check.js'

/** Vectors of the authors' own test program (http://www.isthe.com/chongo/tech/comp/fnv/, test_fnv.c). */
const VECTORS: ReadonlyArray<[text: string, hash: number]> = [
  ['', 0x811c9dc5], ['a', 0xe40c292c], ['b', 0xe70c2de5], ['c', 0xe60c2c52], ['d', 0xe10c2473], ['e', 0xe00c22e0],
  ['f', 0xe30c2799], ['fo', 0x6222e842], ['foo', 0xa9f37ed7], ['foob', 0x3f5076ef], ['fooba', 0x39aaa18a],
  ['foobar', 0xbf9cf968], ['a\0', 0x2b24d044], ['chongo', 0xbd564e7d],
]

t.test('hashes of ASCII are the published ones of FNV-1a, as signed integers', async (t) => {
  for (const [text, hash] of VECTORS) {
    t.equal(fnv1a(text), hash | 0, JSON.stringify(text))
    t.equal(fnv1aOfPart(`<${text}>`, 1, 1 + text.length), hash | 0, `${JSON.stringify(text)} within another text`)
  }
})

t.test('any text is hashed by its code units, and a part as a text of its own', async (t) => {
  const parts = fc.tuple(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }))
  t.doesNotThrow(() => fc.assert(fc.property(parts, ([before, text, after]) => {
    assert.equal(fnv1aOfPart(before + text + after, before.length, before.length + text.length), byDefinition(text))
    assert.equal(fnv1a(text), byDefinition(text))
  })))
})

/** In exact integers. */
function byDefinition (text: string): number {
  let hash = 0x811c9dc5n
  for (let at = 0; at < text.length; at++) {
    hash = BigInt.asUintN(32, (hash ^ BigInt(text.charCodeAt(at))) * 0x01000193n)
  }
  return Number(BigInt.asIntN(32, hash))
}
