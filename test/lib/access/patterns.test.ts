import fc from '../../helpers/fast-check.js'
import t from 'tap'
import { compilePattern, compilePrincipalPattern, isLiteral } from '../../../lib/access/patterns.js'
import { canMatchPrincipal } from '../../../lib/access/context.js'

/** Names that callers may send, with many characters that have a meaning in pattern languages. */
const name = fc.string({
  unit: fc.constantFrom(
    '*', '?', '.', '+', '[', ']', '(', ')', '{', '}', '|', '^', '$', '\\', '/', '%', '_', '-', ':', 'a', 'b', 'ä', '😀',
  ),
  maxLength: 12,
})

const CASES: Array<[pattern: string, matching: string[], others: string[]]> = [
  ['team', ['team'], ['', 'tea', 'teams', 'Team', 'team*', '*', 'team\n']],
  ['team-*', ['team-', 'team-a', 'team-*', 'team-a-b', 'team-\n'], ['team', 'teamx', 'xteam-a', 'Team-a', '*']],
  ['*', ['', '*', 'anything', 'user:alice', '\n'], []],
  ['user:*', ['user:alice', 'user:*'], ['user', 'users:alice', 'service:user:a']],
  ['a.c', ['a.c'], ['abc', 'a*c']],
  ['a.*', ['a.b', 'a.'], ['ab', 'a']],
  ['(x|y)*', ['(x|y)', '(x|y)z'], ['x', 'y', 'xy']],
  ['', [''], ['a', '*']],
]

t.test('a pattern is literal, or a prefix before one trailing star', async (t) => {
  for (const [pattern, matching, others] of CASES) {
    const matches = compilePattern(pattern)
    for (const name of matching) t.ok(matches(name), `${JSON.stringify(pattern)} matches ${JSON.stringify(name)}`)
    for (const name of others) {
      t.notOk(matches(name), `${JSON.stringify(pattern)} does not match ${JSON.stringify(name)}`)
    }
  }
})

t.test('no character of a pattern except a trailing star has a special meaning', async () => {
  fc.assert(fc.property(name, name, (pattern, tested) => {
    const expected = pattern.endsWith('*') ? tested.startsWith(pattern.slice(0, -1)) : tested === pattern
    return compilePattern(pattern)(tested) === expected
  }), { numRuns: 2000 })
})

t.test('the tested name is never interpreted as a pattern', async () => {
  fc.assert(fc.property(name, name, (literal, tested) => {
    fc.pre(!literal.endsWith('*'))
    // Whatever the name is made of, a literal is matched by itself alone.
    return compilePattern(literal)(tested) === (tested === literal)
  }), { numRuns: 2000 })
  fc.assert(
    fc.property(name, name, (prefix, rest) => compilePattern(`${prefix}x*`)(`${prefix}*${rest}`) === false),
    { numRuns: 2000 },
  )
})

t.test('a pattern is literal unless it ends in a star', async (t) => {
  for (const pattern of ['', 'team', 'te*am', '*team']) t.ok(isLiteral(pattern), pattern)
  for (const pattern of ['*', 'team*', 'team-**']) t.notOk(isLiteral(pattern), pattern)
})

const PRINCIPAL_CASES: Array<[pattern: string, matching: string[], others: string[]]> = [
  ['User:*', ['user:x', 'User:x', 'user:X'], ['uSER:x', 'user', 'User', 'users:x']],
  [
    'Service-Account:Build', ['service-account:Build', 'Service-Account:Build'],
    ['service-account:build', 'SERVICE-ACCOUNT:Build'],
  ],
  ['Us*', ['user:x', 'User:x', 'Usher'], ['usher', 'uSer:x', 'xuser:x']],
  ['user:*', ['user:x'], ['User:x']],
  ['Alice', ['Alice'], ['alice', 'alice:x']],
  ['ÄGENT:ß*', ['ägent:ß', 'ÄGENT:ßx'], ['ägent:SS']],
  ['*', ['', 'a', 'A:b'], []],
]

t.test('the type in a pattern of principals is also compared in lower case, the id never', async (t) => {
  for (const [pattern, matching, others] of PRINCIPAL_CASES) {
    const matches = compilePrincipalPattern(pattern)
    for (const name of matching) t.ok(matches(name), `${JSON.stringify(pattern)} matches ${JSON.stringify(name)}`)
    for (const name of others) {
      t.notOk(matches(name), `${JSON.stringify(pattern)} does not match ${JSON.stringify(name)}`)
    }
  }
})

t.test('a pattern of principals in lower case is an ordinary pattern', async () => {
  fc.assert(fc.property(name, name, (pattern, tested) => {
    const lower = pattern.toLowerCase()
    return compilePrincipalPattern(lower)(tested) === compilePattern(lower)(tested)
  }), { numRuns: 2000 })
})

t.test('a pattern with invisible characters, or a longer one than any principal, can match none', async (t) => {
  for (const pattern of ['*', 'a', 'user:*', `${'x'.repeat(256)}*`, 'user:😀']) t.ok(canMatchPrincipal(pattern), pattern)
  for (const pattern of ['', 'a b', 'a\u0007', 'a\u200b*', 'a\ud800', 'x'.repeat(257), `${'x'.repeat(257)}*`]) {
    t.notOk(canMatchPrincipal(pattern), JSON.stringify(pattern))
  }
})
