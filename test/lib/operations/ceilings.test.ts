import t from 'tap'
import { type BankConfiguration, defaultSections, type FileConfig } from '../../../lib/config/schema.js'
import { LIMITS, strictestLimits, withValueAt } from '../../../lib/operations/operator-settings.js'
import { valueAt } from '../../../lib/base/json-object.js'
import { TRUST_LEVELS } from '../../../lib/access/trust.js'
import fc, { runs } from '../../helpers/fast-check.js'
import { operatorSettings } from '../../helpers/settings.js'

/** Any value of a limit. */
function valueOf (path: string): fc.Arbitrary<unknown> {
  if (path.endsWith('blocked_keys')) return fc.subarray(['a', 'b', 'c'])
  if (path === 'reflect.min_trust') return fc.constantFrom(...TRUST_LEVELS)
  if (path === 'reflect.min_score') return fc.constantFrom(0, 0.1, 0.2, 0.3, 1)
  if (path.endsWith('.enabled')) return fc.boolean()
  return path === 'retrieval.weights.semantic' ? fc.constantFrom(0, 0.5, 2) : fc.integer({ min: 2, max: 6 })
}

/** Sections that set some of the limits. */
const sections: fc.Arbitrary<Record<string, unknown>> = fc.tuple(
  ...Object.keys(LIMITS).map((path) => fc.option(valueOf(path), { nil: undefined, freq: 2 })),
).map((values) => (
  Object.keys(LIMITS).reduce<Record<string, unknown>>(
    (all, path, index) => values[index] === undefined ? all : withValueAt(all, path, values[index]), {},
  )
))

/**
 * Whether a value is looser than the operator's, told from the rules as the reference has them, and not as the code
 * does.
 */
function isLooser (path: string, value: unknown, operator: unknown, isSet: boolean): boolean {
  if (operator === undefined) return false
  if (path.endsWith('blocked_keys')) return !(operator as string[]).every((key) => (value as string[]).includes(key))
  if (path === 'reflect.min_trust') {
    return [
      'suspect', 'untrusted', 'trusted',
    ].indexOf(String(value)) < ['suspect', 'untrusted', 'trusted'].indexOf(String(operator))
  }
  if (path === 'reflect.min_score') return isSet && Number(value) < Number(operator)
  if (path.endsWith('.enabled') || path === 'retrieval.weights.semantic') return !operator && Boolean(value)
  return value === undefined || Number(value) > Number(operator)
}

t.test('whatever a bank and its profile set, no limit is ever looser than the operator\'s', async () => {
  fc.assert(fc.property(sections, sections, sections, sections, (file, entry, profile, own) => {
    const settings = operatorSettings({ ...file, profiles: { chosen: profile }, banks: { home: entry } } as FileConfig)
    const operator = settings.explain('home')
    const { settings: inForce } = settings.explain('home', { ...own, profile: 'chosen' } as BankConfiguration)
    const loose = Object.keys(LIMITS).filter((path) => isLooser(
      path, valueAt(inForce, path), valueAt(operator.settings, path), operator.origin[path] !== 'default',
    ))
    if (loose.length > 0) throw new Error(loose.join())
  }), { numRuns: runs(300, 20_000) })
})

t.test('exactly the looser values are refused, and all others are in force unchanged', async () => {
  fc.assert(fc.property(sections, sections, (file, own) => {
    const settings = operatorSettings(file as FileConfig)
    const operator = settings.explain('home')
    const faults = settings.faults('home', own as BankConfiguration)
      .filter(({ field, message }) => field in LIMITS && !message.startsWith('has no effect'))
      .map(({ field }) => field)
    const loose = Object.keys(LIMITS).filter((path) => {
      const value = valueAt(own, path)
      return (
        value !== undefined && !path.endsWith('blocked_keys') &&
          isLooser(path, value, valueAt(operator.settings, path), operator.origin[path] !== 'default')
      )
    })
    if (JSON.stringify(faults.toSorted().filter((field) => (
      field !== 'retrieval.rerank'
    ))) !== JSON.stringify(loose.toSorted())) throw new Error(`${faults.join()} for ${loose.join()}`)
    const { settings: inForce } = settings.explain('home', own as BankConfiguration)
    for (const path of Object.keys(LIMITS)) {
      const value = valueAt(own, path)
      if (value !== undefined && !loose.includes(path) && !path.endsWith('blocked_keys') &&
        valueAt(inForce, path) !== value) throw new Error(path)
    }
  }), { numRuns: runs(300, 20_000) })
})

t.test('the common limits of several banks are looser than those of none of them, in any order', async () => {
  fc.assert(fc.property(fc.array(sections, { minLength: 1, maxLength: 4 }), (banks) => {
    const base = defaultSections(1)
    const each = banks.map((own) => (
      operatorSettings({
        retrieval: { weights: { semantic: 1 }, rewrite: { enabled: true }, model_rerank: { enabled: true } },
      }).of('home', own as BankConfiguration)
    ))
    const common = strictestLimits(base, each)
    const reverse = strictestLimits(base, each.toReversed())
    for (const path of Object.keys(LIMITS)) {
      const value = valueAt(common, path)
      for (const bank of [base, ...each]) if (isLooser(path, value, valueAt(bank, path), true)) throw new Error(path)
      const sorted = (list: unknown) => JSON.stringify(Array.isArray(list) ? list.toSorted() : list)
      if (sorted(value) !== sorted(valueAt(reverse, path))) throw new Error(`${path} depends on the order`)
    }
  }), { numRuns: runs(200, 10_000) })
})
