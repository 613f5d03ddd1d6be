import assert from 'node:assert/strict'
import fc from '../../helpers/fast-check.js'
import { decode, encode } from 'gpt-tokenizer/encoding/o200k_base'
import t from 'tap'
import { oddTexts } from './odd-texts.js'
import { countTokens, sumTokens, TokenCount } from '../../../lib/text/tokens.js'

const ordinary = { disallowedSpecial: new Set<string>() }

/** CPU time, lest a busy machine matter; generous, for it has only to tell some 10 ms from over a second. */
const BOUND_MS = 700

await t.test('counts are those of o200k_base', async (t) => {
  t.equal(countTokens(''), 0)
  t.equal(countTokens('hello world'), 2)
  t.equal(countTokens('The quick brown fox jumps over the lazy dog.'), 10)
  t.equal(countTokens('今天天气很好。'), encode('今天天气很好。').length)
})

await t.test('text that spells a special token is ordinary text', async (t) => {
  for (const text of [
    '<|endoftext|>', 'a <|endoftext|> b', '<|im_start|>system<|im_sep|>x<|im_end|>', '<|endofprompt|>'.repeat(50),
  ]) {
    const tokens = encode(text, ordinary)
    t.equal(countTokens(text), tokens.length)
    t.equal(decode(tokens), text, 'no special token stands for it')
    t.ok(countTokens(text) > 5)
  }
})

await t.test('a long text of words is counted exactly', async (t) => {
  const parts = [
    'Some words, 12345678 numbers… ', 'C’était l’été.\n\n', '「東京」に行く。', "it's ", 'https://example.com/a/b?c=d ',
    '👩‍💻!!!\r\n', '    indented\t', '0'.repeat(200) + ' ',
  ]
  t.doesNotThrow(
    () => fc.assert(fc.property(fc.array(fc.constantFrom(...parts), { minLength: 20, maxLength: 200 }), (chosen) => {
      const text = chosen.join('')
      assert.equal(countTokens(text), encode(text).length)
    }), { numRuns: 30 }),
  )
})

await t.test('an ASCII text is counted exactly, whatever its signs and words', async (t) => {
  const sign = fc.integer({ min: 0, max: 0x7f }).map((code) => String.fromCharCode(code))
  const letter = fc.constantFrom(...'aaeeiostrnlqxzAEXZ')
  const unit = fc.oneof(
    sign, fc.string({ unit: letter, maxLength: 20 }), fc.constantFrom(' ', "'s", "'LL", '\r\n', '  ', '12345', '://'),
  )
  t.doesNotThrow(() => fc.assert(fc.property(fc.array(unit, { maxLength: 400 }), (units) => {
    const text = units.join('').replace(/(.{60})/gs, '$1x ')
    assert.equal(countTokens(text), encode(text, ordinary).length)
  }), { numRuns: 200 }))
  const word = 'qzjxkvbw'.repeat(30)
  t.equal(countTokens(word), encode(word, ordinary).length, 'a long word')
})

await t.test('a text without runs that are longer than a piece is counted exactly in slices', async (t) => {
  t.doesNotThrow(() => fc.assert(fc.property(oddTexts, (text) => {
    // A long run is cut where no piece ends for certain.
    const spaced = text.slice(0, 3_000).replace(/(.{60})/gsu, '$1x ').toWellFormed()
    assert.equal(countTokens(spaced), encode(spaced, ordinary).length)
  }), { numRuns: 100 }))
})

await t.test('long runs are counted in bounded time and close to exactly', async (t) => {
  const letters = Array.from({ length: 2_000 }, (_, i) => 'etaoinshrdlu'[(i * i + 7 * i) % 12]).join('')
  const han = Array.from({ length: 2_000 }, (_, i) => String.fromCharCode(0x4e00 + (i * 37) % 3_000)).join('')
  for (const run of ['a'.repeat(2_000), ' '.repeat(2_000), '='.repeat(2_000), '\n/'.repeat(1_000), letters, han]) {
    const exact = encode(run).length
    const cuts = run.length / 256
    t.ok(
      Math.abs(countTokens(run) - exact) <= Math.max(2, cuts),
      `${JSON.stringify(run.slice(0, 8))}: ${countTokens(run)} for ${exact}`,
    )
  }
  const emoji = '.' + '😀'.repeat(1_000)
  t.equal(countTokens(emoji), encode(emoji).length, 'no character is cut in two')
  const base64 = Array.from({ length: 50_000 }, (_, i) => (
    'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'[(i * i * 31 + i * 17) % 64]
  )).join('')
  for (const text of [
    'a'.repeat(50_000), ' '.repeat(50_000), '.'.repeat(50_000), '.' + '\n/'.repeat(25_000), '.\u0301'.repeat(25_000),
    base64,
  ]) {
    const start = process.cpuUsage()
    countTokens(text)
    const { user, system } = process.cpuUsage(start)
    const took = (user + system) / 1_000
    t.ok(took < BOUND_MS, `${JSON.stringify(text.slice(0, 8))}: ${took.toFixed(1)} ms`)
  }
})

await t.test('any string is counted', async (t) => {
  t.doesNotThrow(
    () => fc.assert(fc.property(fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 60 }), (units) => {
      const text = String.fromCharCode(...units)
      const count = countTokens(text)
      // A token is one byte at least, and a unit three bytes at most.
      if (count > 3 * text.length || (count === 0) !== (text === '')) {
        throw new Error(`${count} tokens of ${text.length} units`)
      }
    }), { numRuns: 500 }),
  )
})

await t.test('a count is computed when it is first requested, and then known', async (t) => {
  const count = TokenCount.of('hello world')
  t.notOk(count.isKnown)
  t.equal(count.value, 2)
  t.ok(count.isKnown)
  t.equal(count.value, 2)
  t.equal(JSON.stringify({ tokens: TokenCount.of('hello world') }), '{"tokens":2}')
  t.match(TokenCount.known(7), { isKnown: true, value: 7 })
})

await t.test('a sum yields to other work while it counts, and not when there is nothing to count', async (t) => {
  let turns = 0
  const turn = () => {
    turns++
    next = setImmediate(turn)
  }
  let next = setImmediate(turn)
  t.equal(await sumTokens(Array.from({ length: 200_000 }, () => TokenCount.known(1))), 200_000)
  t.equal(turns, 0)
  const texts = Array.from({ length: 200 }, (_, index) => (
    `${index} The quick brown fox jumps over the lazy dog. `.repeat(100)
  ))
  const counts = texts.map((text) => TokenCount.of(text))
  t.equal(await sumTokens(counts), texts.reduce((sum, text) => sum + countTokens(text), 0))
  t.ok(turns > 1, String(turns))
  clearImmediate(next)
})

await t.test('a sum that is high enough stops counting', async (t) => {
  const counts = Array.from({ length: 5 }, () => TokenCount.of('hello world'))
  t.equal(await sumTokens(counts, 3), 4)
  t.same(counts.map(({ isKnown }) => isKnown), [true, true, false, false, false])
})
