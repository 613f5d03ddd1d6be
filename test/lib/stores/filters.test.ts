import fc, { runs } from '../../helpers/fast-check.js'
import t from 'tap'
import { compileFilters, tagCondition } from '../../../lib/stores/filters.js'
import type { Filters, Memory } from '../../../lib/stores/vector-store.js'
import { TokenCount } from '../../../lib/text/tokens.js'
import { TRUST_LEVELS } from '../../../lib/access/trust.js'
import { FILTER_CASES } from '../../contract/vector-store/filter-cases.js'
import { memoryWith, newMemory, NOW } from '../../helpers/memories.js'

function memory (fields: Partial<Memory>): Memory {
  return memoryWith({ memoryId: 'm', text: 'x', tokens: TokenCount.known(1), ...fields })
}

t.test('filters without a condition compile to no filter', async (t) => {
  t.equal(compileFilters({}), undefined)
  t.equal(compileFilters({ metadata: {} }), undefined)
  t.equal(compileFilters({ minTrust: 'suspect' }), undefined)
})

t.test('every case of the contract has the expected decision', async (t) => {
  for (const { about, filters, memories, expected } of FILTER_CASES) {
    const accept = compileFilters(filters)
    const passing: string[] = []
    for (const [name, fields] of Object.entries(memories)) {
      if (accept === undefined || accept(await newMemory('x', fields))) passing.push(name)
    }
    t.strictSame(passing, expected, about)
  }
})

const tag = fc.constantFrom('a', 'b', 'c', 'A', '', '__proto__')
const value = fc.constantFrom('1', 1, 0, true, false, null, '', 'true')
const instant = fc.integer({ min: NOW - 3, max: NOW + 3 })
const anyMemory = fc.record({
  tags: fc.uniqueArray(tag),
  metadata: fc.dictionary(fc.constantFrom('a', 'b', 'constructor'), value),
  occurredAt: fc.option(instant),
  retainedAt: instant,
  trust: fc.constantFrom(...TRUST_LEVELS),
}).map(memory)
const anyFilters: fc.Arbitrary<Filters> = fc.record({
  tags: fc.record({ values: fc.array(tag, { maxLength: 3 }), match: fc.constantFrom('any' as const, 'all' as const) }),
  metadata: fc.dictionary(fc.constantFrom('a', 'b', 'constructor'), value, { maxKeys: 2 }),
  occurredAfter: instant,
  occurredBefore: instant,
  asOf: instant,
  minTrust: fc.constantFrom(...TRUST_LEVELS),
}, { requiredKeys: [] })

function passes (filters: Filters, memory: Memory): boolean {
  return compileFilters(filters)?.(memory) ?? true
}

t.test('all conditions hold together: a filter passes what each of its parts passes', async () => {
  fc.assert(fc.property(anyFilters, anyMemory, (filters, memory) => {
    const parts = Object.entries(filters).map(([name, condition]): Filters => ({ [name]: condition }))
    return passes(filters, memory) === parts.every((part) => passes(part, memory))
  }), { numRuns: runs(500, 5000) })
})

t.test('"all" requires each of the tags, "any" at least one, and an untagged memory has neither', async () => {
  fc.assert(fc.property(fc.array(tag, { maxLength: 4 }), anyMemory, (values, memory) => {
    const each = values.map((value) => tagCondition([value], 'any')(memory))
    const [all, any] = [tagCondition(values, 'all')(memory), tagCondition(values, 'any')(memory)]
    if (memory.tags.length === 0) return !all && !any
    return all === each.every(Boolean) && any === each.some(Boolean)
  }), { numRuns: runs(500, 5000) })
})

t.test('a memory without a time of occurrence passes no bound on that time', async () => {
  fc.assert(fc.property(fc.integer(), (bound) => !passes({ occurredAfter: bound }, memory({})) &&
    !passes({ occurredBefore: bound }, memory({}))))
})

t.test('two adjacent ranges share no memory and omit none', async () => {
  fc.assert(fc.property(instant, instant, (border, occurredAt) => {
    const [before, after] = [
      passes({ occurredBefore: border }, memory({ occurredAt })),
      passes({ occurredAfter: border }, memory({ occurredAt })),
    ]
    return before !== after
  }))
})

t.test('the tags of a filter are not compared one by one with those of a memory', async (t) => {
  const tags = (prefix: string) => Array.from({ length: 100 }, (_, index) => `${prefix}${index}`)
  let reads = 0
  const counted = new Proxy(tags('of the memory '), {
    get: (target, name, receiver): unknown => {
      reads++
      return Reflect.get(target, name, receiver)
    },
  })
  t.notOk(tagCondition(tags('of the filter '), 'any')(memory({ tags: counted })))
  t.ok(tagCondition(tags('of the memory ').reverse(), 'all')(memory({ tags: counted })))
  t.ok(reads < 1000, `${reads} reads`)
})
