import t from 'tap'
import { PrincipalTrust, type TrustRule } from '../../../lib/access/principal-trust.js'
import type { RequestContext } from '../../../lib/access/context.js'
import { isAtLeast, lowestTrust, readTrust, TRUST_LEVELS } from '../../../lib/access/trust.js'
import fc from '../../helpers/fast-check.js'

const RULES: TrustRule[] = [
  { principal: 'user:*', trust: 'trusted' },
  { principal: 'user:web*', trust: 'untrusted' },
  { principal: 'user:web', trust: 'trusted' },
  { principal: 'bot:*', trust: 'untrusted' },
]

function of (rules: readonly TrustRule[], context: Partial<RequestContext>): string {
  return new PrincipalTrust(rules).of({ tenantId: null, ...context })
}

t.test('a literal rule precedes a pattern, and a longer pattern a shorter one, in any order of the list', async (t) => {
  for (const rules of [RULES, RULES.toReversed()]) {
    t.equal(of(rules, { principal: 'user:alice' }), 'trusted')
    t.equal(of(rules, { principal: 'user:web' }), 'trusted')
    t.equal(of(rules, { principal: 'user:web2' }), 'untrusted')
    t.equal(of(rules, { principal: 'bot:1' }), 'untrusted')
    t.equal(of(rules, { principal: 'service:x' }), 'trusted')
    t.equal(of([...rules, { principal: '*', trust: 'untrusted' }], { principal: 'service:x' }), 'untrusted')
  }
})

t.test('of two rules for the same principals the lower level holds', async (t) => {
  const rules: TrustRule[] = [{ principal: 'a', trust: 'trusted' }, { principal: 'a', trust: 'untrusted' }]
  for (const list of [rules, rules.toReversed()]) t.equal(of(list, { principal: 'a' }), 'untrusted')
})

t.test('of two identities the lower level holds', async (t) => {
  t.equal(of(RULES, { principal: 'user:alice', onBehalfOf: 'bot:1' }), 'untrusted')
  t.equal(of(RULES, { principal: 'bot:1', onBehalfOf: 'user:alice' }), 'untrusted')
  t.equal(of(RULES, { principal: 'user:alice', onBehalfOf: 'user:bob' }), 'trusted')
})

t.test('the type of a principal is compared in lower case, and its id with regard to case', async (t) => {
  for (const rules of [
    RULES,
    RULES.map(
      ({ principal, trust }) => ({ principal: principal.replace(/^\w+/, (type) => type.toUpperCase()), trust }),
    ),
  ]) {
    for (const principal of ['bot:1', 'Bot:1', 'BOT:1', 'user:web2', 'User:web2']) {
      t.equal(of(rules, { principal }), 'untrusted', principal)
    }
    for (const principal of ['User:web', 'user:WEB2', 'Bot']) t.equal(of(rules, { principal }), 'trusted', principal)
    t.equal(of(rules, { principal: 'user:alice', onBehalfOf: 'Bot:1' }), 'untrusted')
  }
  t.equal(
    of([{ principal: 'Ada', trust: 'untrusted' }], { principal: 'Ada' }), 'untrusted',
    'a principal without a type is an id',
  )
  t.equal(of([{ principal: 'Ada', trust: 'untrusted' }], { principal: 'ada' }), 'trusted')
})

t.test('only a lone star matches an anonymous caller', async (t) => {
  t.equal(of([{ principal: 'u*', trust: 'untrusted' }], {}), 'trusted')
  t.equal(of([{ principal: '*', trust: 'untrusted' }], {}), 'untrusted')
})

t.test('a ceiling lowers a level and never raises it', async (t) => {
  t.equal(of([], { principal: 'a', trustCeiling: 'untrusted' }), 'untrusted')
  t.equal(of([], { principal: 'a', trustCeiling: 'suspect' }), 'suspect')
  t.equal(of(RULES, { principal: 'bot:1', trustCeiling: 'trusted' }), 'untrusted')
})

t.test('the lowest of several levels is one of them, and each of them is at least as high', async () => {
  fc.assert(fc.property(fc.array(fc.constantFrom(...TRUST_LEVELS), { minLength: 1 }), (levels) => {
    const lowest = lowestTrust(...levels)
    return levels.includes(lowest) && levels.every((level) => isAtLeast(level, lowest))
  }))
})

t.test('an invalid level is read as the lowest', async (t) => {
  for (const level of TRUST_LEVELS) t.equal(readTrust(level), level)
  for (const text of ['', 'TRUSTED', 'toString', 'high']) t.equal(readTrust(text), 'suspect')
})

t.test('a rule for a type also holds in lower case, which is the form that tokens have', async (t) => {
  t.equal(of([{ principal: 'Bot:*', trust: 'untrusted' }], { principal: 'bot:1' }), 'untrusted')
})
