import fc, { runs } from '../../helpers/fast-check.js'
import t from 'tap'
import { compileOwners } from '../../../lib/access/owners.js'
import { settingsOf } from '../../../lib/config/config.js'

const { ownerPatterns: DEFAULT_OWNER_PATTERNS } = settingsOf({}).access
import { isBankId } from '../../../lib/access/context.js'

function ownsBank (principal: string, bankId: string, patterns: readonly string[]): boolean {
  return compileOwners(patterns)(principal, bankId)
}

const OWN: Array<[principal: string, bankId: string]> = [
  ['user:alice', 'user-alice'],
  ['user:alice', 'alice'],
  ['agent:alice', 'alice'],
  ['user:a-b', 'user-a-b'],
  ['user:a:b', 'user-a:b'],
  ['user:alice@example.com', 'user-alice@example.com'],
  ['user:alice@example.com', 'alice@example.com'],
  ['api_key2:x', 'api_key2-x'],
  ['user:$&', 'user-$&'],
  ['user:{type}', 'user-{type}'],
]

const NOT_OWN: Array<[about: string, principal: string, bankId: string]> = [
  ['another id', 'user:alice', 'user-bob'],
  ['another type', 'agent:alice', 'user-alice'],
  ['a longer name', 'user:alice', 'user-alice2'],
  ['a shorter name', 'user:alice', 'user-alic'],
  ['another case', 'user:alice', 'user-Alice'],
  ['an id that poses as a typed bank', 'agent:user-alice', 'user-alice'],
  ['an id that poses with a colon', 'agent:user:alice', 'user:alice'],
  ['a type that poses as a typed id', 'user-a:b', 'user-a-b'],
  ['a type with a capital', 'User:alice', 'User-alice'],
  ['a type of a digit', '1:alice', '1-alice'],
  ['a type that is not ASCII', 'usér:alice', 'usér-alice'],
  ['no type', ':alice', 'alice'],
  ['no id', 'user:', 'user-'],
  ['no colon', 'alice', 'alice'],
  ['a star', 'user:*', 'user-alice'],
  ['an id that is a pattern of text replacement', 'user:$&', 'user-{id}'],
  ['an id that names a placeholder', 'user:{type}', 'user-user'],
]

const type = fc.string({
  unit: fc.constantFrom('a', 'b', 'u', '_', '1', '-', ':', 'A', '.'), minLength: 1, maxLength: 4,
})
const id = fc.string({
  unit: fc.constantFrom('a', 'b', 'u', '-', ':', '_', '.', '*', '$', '{id}', '{type}'), minLength: 1, maxLength: 6,
})
const principal = fc.tuple(type, id).map(([type, id]) => `${type}:${id}`)

/** Every bank that a principal can own under the default patterns. */
function possibleBanks (principal: string): string[] {
  const colon = principal.indexOf(':')
  const [type, id] = [principal.slice(0, colon), principal.slice(colon + 1)]
  return [`${type}-${id}`, id, principal, `${type}${id}`, `${id}-${type}`]
}

t.test('a principal owns the bank of its type and id, and that of its id alone', async (t) => {
  for (const [principal, bankId] of OWN) {
    t.ok(ownsBank(principal, bankId, DEFAULT_OWNER_PATTERNS), `${principal} owns ${bankId}`)
  }
})

t.test('a principal owns no other bank', async (t) => {
  for (const [about, principal, bankId] of NOT_OWN) t.notOk(ownsBank(principal, bankId, DEFAULT_OWNER_PATTERNS), about)
})

t.test('a bank with a type in its name has at most one owner', async () => {
  let shared = 0
  fc.assert(fc.property(principal, principal, (one, other) => {
    fc.pre(one !== other)
    for (const bankId of [...possibleBanks(one), ...possibleBanks(other)]) {
      const both = [one, other].every((principal) => ownsBank(principal, bankId, DEFAULT_OWNER_PATTERNS))
      if (both && /[-:]/.test(bankId)) throw new Error(`${one} and ${other} both own ${bankId}`)
      if (both) shared++
    }
  }), { numRuns: runs(2000, 20_000) })
  // Only equal ids of two types share a bank, the one of the bare id.
  fc.assert(fc.property(type, type, id, (one, other, id) => {
    fc.pre(one !== other)
    const banks = possibleBanks(`${one}:${id}`).filter((bankId) => [one, other].every((type) => ownsBank(
      `${type}:${id}`, bankId, DEFAULT_OWNER_PATTERNS,
    )))
    if (banks.some((bankId) => bankId !== id)) {
      throw new Error(`${one}:${id} and ${other}:${id} share ${banks.join(', ')}`)
    }
    shared += banks.length
  }), { numRuns: runs(500, 5000) })
  if (shared === 0) throw new Error('the generators never made a shared bank, so this proves nothing')
})

t.test('if every pattern contains the type, no two principals share a bank', async () => {
  for (const patterns of [['{type}-{id}'], ['{type}-{id}', 'home-of-{type}-{id}'], ['{type}:{id}']]) {
    fc.assert(fc.property(principal, principal, (one, other) => {
      fc.pre(one !== other)
      return possibleBanks(one).every(
        (bankId) => !(ownsBank(one, bankId, patterns) && ownsBank(other, bankId, patterns)),
      )
    }), { numRuns: runs(500, 5000) })
  }
})

t.test('a pattern without a type matches only ids that cannot pose as typed', async (t) => {
  t.ok(ownsBank('user:alice', 'home.alice', ['home.{id}']))
  t.notOk(ownsBank('user:alice', 'home-alice', ['home.{id}']))
  t.notOk(ownsBank('user:a-b', 'home.a-b', ['home.{id}']))
  t.notOk(ownsBank('user:a:b', 'home.a:b', ['home.{id}']))
  t.ok(ownsBank('user:a-b', 'user.a-b', ['{type}.{id}']))
})

t.test('of several patterns that fit a bank, the one with the most text decides whose it is', async (t) => {
  for (const separator of ['.', '_', '@', '-', ':']) {
    const patterns = ['{id}', `{type}${separator}{id}`]
    t.ok(ownsBank('agent:bob', `agent${separator}bob`, patterns))
    t.notOk(ownsBank(`user:agent${separator}bob`, `agent${separator}bob`, patterns), separator)
    t.ok(ownsBank('agent:bob', 'bob', patterns))
  }
  const patterns = ['{type}-{id}', 'notes-{id}', '{type}-{id}-private']
  t.ok(ownsBank('user:bob', 'user-bob-private', patterns))
  t.notOk(ownsBank('user:bob-private', 'user-bob-private', patterns))
  t.ok(ownsBank('user:bob-x', 'user-bob-x', patterns))
  t.ok(ownsBank('user:bob', 'notes-bob', patterns))
})

t.test('where a bank could have several types, the shortest counts', async (t) => {
  t.ok(ownsBank('user:b_c', 'user_b_c', ['{type}_{id}']))
  t.notOk(ownsBank('user_b:c', 'user_b_c', ['{type}_{id}']))
  t.ok(ownsBank('user:b_c', 'b_c_user', ['{id}_{type}']))
  t.notOk(ownsBank('c_user:b', 'b_c_user', ['{id}_{type}']))
})

t.test('every occurrence of a placeholder is filled, in one pass', async (t) => {
  t.ok(ownsBank('user:alice', 'user.alice.user.alice', ['{type}.{id}.{type}.{id}']))
  t.notOk(ownsBank('user:{id}', 'user-{id}-x', ['{type}-{id}-{id}']))
  t.ok(ownsBank('user:{id}', 'user-{id}-{id}', ['{type}-{id}-{id}']))
})

t.test('without patterns no principal owns a bank', async (t) => {
  t.notOk(ownsBank('user:alice', 'user-alice', []))
})

t.test('a pattern that results in an invalid bank id results in no bank', async (t) => {
  t.ok(ownsBank('user:$&', 'user-$&', DEFAULT_OWNER_PATTERNS))
  t.notOk(isBankId('user-$&'))
})
