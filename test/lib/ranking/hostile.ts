/** A text of so many characters. */
export const LENGTH = 50_000

const UNITS = [
  'a', 'A', '1', ' ', '\n', '(', ')', '[', ']', '"', "'", '\u2019', '.', ',', '?', '!', ':', '-', '/', '\u0301',
  '\u200d', '\u4e2d', '\u0e01', '\u{1f600}', '\ud800',
  'A ', 'A. ', 'A, ', 'Aa ', 'Aa: ', 'Ann and ', 'Ann, ', '1 ', '1/', '1-', '1:1 ', '2020 ', 'in 2020 ', 'May ',
  'may, ', 'last ', 'ago ', 'before the ', 'which s ', 'what a-', 'how ', 'when after ',
  '2 weeks ', '2 weeks     ', 'a  couple  weeks     and ', '1 year 2 months, ',
]

/**
 * Texts that make a careless expression try for ever: long runs of one thing, with and without a beginning and an end
 * that nearly match. A test that calls what it tests with each of them hangs where that does more than a bounded amount
 * of work.
 */
export const HOSTILE_TEXTS: readonly string[] = [
  ['', ''], ['When ', ' after?'], ['1 May ', 'x'], ['Ann: ', '?)'],
].flatMap(([before, behind]) =>
  UNITS.map((unit) => `${before}${unit.repeat(Math.ceil(LENGTH / unit.length)).slice(0, LENGTH)}${behind}`))
