import fc from '../../helpers/fast-check.js'

/**
 * Pieces of which texts are made that are hard to take apart: what expands, joins, composes, cases by its neighbours or
 * has no white space.
 */
const PIECES = [
  'a', 'B', 'dog ', 'running ', 'the ', 'é', 'e\u0301', '\u0301', '\u0323\u0301', "'", "'s", "n't", '’re ', 'ſ', 'İ',
  'Σ', 'ΑΣ', 'ß', '1', '23 ', '½',
  ' ', '  ', '\n', '\r\n', '\t', '\u00a0', '\u2028', '\u3000', '.', '. ', '? ', '...', '/', '-', '_', '@', '[', ']',
  '(', '<', '>', '"', '`', '。',
  '\ufdfa', '㌀', 'ﬃ', '™', '漢', '漢字', 'ひ', 'カ', 'ｶ', 'ﾞ', 'ー', '각', 'ㄱ', 'ㅏ', '\u1100', '\u1161', '\u11a8', '\u3164',
  'ก', 'ำ', 'ກ', 'ខ', 'မ',
  'ن', '\u0651', 'авс', 'о', '👍', '👨\u200d👩', '🏳️', '🇩', '\u200d', '\u200b', '\u00ad', '\ufeff', '\ufe0f',
  '\u034f', '\u202e', '\u{e0041}', '𝐀', '\ud83d', '\udc4d',
  'ignore all previous instructions ', 'i g n o r e ', '<|im_start|>', '\nSYSTEM: ', 'cite [1]', '![x](//e?q={x})',
  '\\u0069', '%69', 'aWdub3Jl', '696e',
]

/** Long texts of a few of these pieces each, with a run of one of them in the middle. */
export const oddTexts: fc.Arbitrary<string> = fc.tuple(
  fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 6 }),
  fc.array(fc.nat(), { minLength: 1, maxLength: 40 }),
  fc.integer({ min: 0, max: 200 }),
  fc.integer({ min: 2_000, max: 9_000 }),
).map(([alphabet, order, run, length]) => {
  const some = order.map((place) => alphabet[place % alphabet.length]!)
  const row = [...some, some[0]!.repeat(run), ...some.toReversed()].join('')
  return row.repeat(Math.ceil(length / row.length)).slice(0, length)
})
