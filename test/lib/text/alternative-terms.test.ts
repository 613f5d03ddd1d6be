import t from 'tap'
import { analyzeQuery } from '../../helpers/retrieval.js'
import { identifierParts } from '../../../lib/text/alternative-terms.js'
import { analyzeText } from '../../../lib/text/analysis.js'

const parts = (text: string) => [...identifierParts(text)].flat()
/** The terms that a query and a memory share. */
const shared = (query: string, memory: string) => {
  const { terms } = analyzeText(memory)
  return analyzeQuery(query, 0).terms.filter((term) => terms.has(term))
}

t.test('an identifier gives the stems of its parts', async (t) => {
  for (const [text, expected] of [
    ['The RateLimiter failed', ['rate', 'limit']],
    ['call getUserName()', ['get', 'user', 'name']],
    ['parseHTTPRequests2Json', ['pars', 'http', 'requests2', 'json']],
    ['class HTTPServer', ['http', 'server']],
    ['a.toISOString and b.setTimeout', ['iso', 'string', 'set', 'timeout']],
  ] as const) t.strictSame(parts(text), expected, text)
})

t.test('names with one part, plurals of capitals, plain words and keys give none', async (t) => {
  for (const text of [
    'iPhone', 'my PDFs', 'two APIs', 'USA', 'Plain Words', 'snake_case_name', 'é', '', 'x'.repeat(100),
    `${'Ab'.repeat(33)}`, 'dGhpcyBJcyBBIEtleSBPZiBTb21lIFNvcnQ', `prefix${'aB'.repeat(40)}`,
  ]) t.strictSame(parts(text), [], text)
})

t.test('alternatives follow the words, once, and count neither in the length nor beside the same word', async (t) => {
  const plain = analyzeText('The limiter called ratelimiter')
  const named = analyzeText('The limiter called RateLimiter')
  t.equal(named.length, plain.length)
  t.strictSame([...named.terms], [...plain.terms, ['rate', 1]])
  t.strictSame([...analyzeText('猫').terms], [['猫', 1]])
  t.strictSame([...analyzeText('黑猫猫').terms], [['黑猫', 1], ['猫猫', 1], ['黑', 1], ['猫', 1]])
  t.equal(analyzeText('黑猫猫').length, 2)
})

t.test('a memory is found by parts of an identifier, by one character and by letters as typed', async (t) => {
  for (const [query, memory, expected] of [
    ['Which rate limiter do we use?', 'We replaced it by TokenBucketRateLimiter.', ['rate', 'limit']],
    ['What does TokenBucketRateLimiter do?', 'The rate limiter counts tokens.', ['token', 'rate', 'limit']],
    ['猫', '我有一只黑猫', ['猫']],
    ['父の車は何色?', '新しい赤い車を買った', ['車']],
    ['Hauptstrasse', 'Ich wohne in der Hauptstraße', ['hauptstrass']],
    ['Hauptstraße', 'Ich wohne an der Hauptstrasse', ['hauptstrass']],
    ['Lodz', 'She was born in Łódź', ['lodz']],
    ['Søren', 'Soren called', ['soren']],
    ['encyclopædia', 'An old encyclopaedia', ['encyclopaedia']],
  ] as const) t.strictSame(shared(query, memory), expected, query)
})

t.test('Han characters of a query that stand in pairs are not searched one by one', async (t) => {
  t.strictSame(analyzeQuery('黑猫', 0).terms, ['黑猫'])
  t.strictSame(analyzeQuery('電車で車庫へ', 0).terms.filter((term) => [...term].length === 1), [])
})

t.test('a text of identifiers only has the terms of one', async (t) => {
  t.strictSame([...analyzeText('camelCase '.repeat(10_000)).terms.keys()], ['camelcas', 'camel', 'case'])
})
