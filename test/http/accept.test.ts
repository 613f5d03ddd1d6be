import t from 'tap'
import { acceptedCoding } from '../../http/accept.js'

const AVAILABLE = ['br', 'gzip'] as const

t.test('the first coding that the client accepts is chosen', async (t) => {
  const cases: Array<[header: string | undefined, expected: string | undefined]> = [
    [undefined, undefined],
    ['', undefined],
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['deflate', undefined],
    ['br;q=0, gzip', 'gzip'],
    ['br; q=0.0, gzip ;q=0.1', 'gzip'],
    ['*', 'br'],
    ['*;q=0', undefined],
    ['br;q=0, *', 'gzip'],
    ['identity', undefined],
    ['br;q=nonsense', undefined],
    [`${'x,'.repeat(40)}gzip`, undefined],
  ]
  for (const [header, expected] of cases) {
    t.equal(acceptedCoding(header, AVAILABLE), expected, String(header).slice(0, 40))
  }
})

t.test('a coding that is not available is not chosen', async (t) => {
  t.equal(acceptedCoding('br, gzip', []), undefined)
  t.equal(acceptedCoding('br, gzip', ['gzip']), 'gzip')
})
