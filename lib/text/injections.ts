import type { Steps } from '../concurrency/steps.js'
import { INJECTION_RULES, type InjectionKind } from './injection-rules.js'

/** A word of a rule. */
interface Step {
  /** How many other words may stand before it. */
  gap: number
  exact: ReadonlySet<string>
  prefixes: readonly string[]
}

interface Rule {
  kind: InjectionKind
  steps: readonly Step[]
}

/** Letters that stand alone in a row from which on they are read as a word, as in `i g n o r e`. */
const SPELLED_OUT = 8
/** Beginnings of orders, without spaces. */
const RUN_TOGETHER = /ignore(?:all|any|the|your)*(?:previous|prior|above|earlier|instruction|rules)|disregard(?:all|any|the|your)*(?:previous|prior|above|earlier|instruction|rules)|forget(?:all|your)*(?:previous|prior|instruction)|systemprompt|youarenow|revealyour/

/** Words that are looked at in a step. */
const TOGETHER = 512

const RULES: ReadonlyMap<string, readonly Rule[]> = byFirstWord(
  INJECTION_RULES.flatMap(({ kind, forms }) => forms.map((form) => compile(kind, form))),
)

/** Words behind the first of an order that the longest one goes on to. */
const LONGEST_ORDER = Math.max(
  ...[...RULES.values()].flat().map(({ steps }) => steps.reduce((sum, { gap }) => sum + gap + 1, 0)),
)

/**
 * Which kinds of orders the words hold. Each word is looked at once as the beginning of an order, and then a bounded
 * number behind it.
 * @param parts words of plainWordsInParts(); no more of them are kept than an order is long
 */
export function * injectionSteps (parts: Iterable<readonly string[]>): Steps<Set<InjectionKind>> {
  const found = new Set<InjectionKind>()
  const spelling = new Spelling()
  let words: string[] = []
  for (const part of parts) {
    for (const word of part) words.push(word)
    const sure = Math.max(0, words.length - LONGEST_ORDER)
    yield * look(words, sure, found, spelling)
    words = words.slice(sure)
    yield
  }
  yield * look(words, words.length, found, spelling)
  if (spelling.ends()) found.add('override')
  return found
}

/** Looks at each of the first `count` words as the beginning of an order. */
function * look (words: readonly string[], count: number, found: Set<InjectionKind>, spelling: Spelling): Steps<void> {
  for (let at = 0; at < count; at++) {
    if (at % TOGETHER === TOGETHER - 1) yield
    const word = words[at]!
    if (spelling.read(word)) found.add('override')
    for (const { kind, steps } of RULES.get(word) ?? []) {
      if (!found.has(kind) && goesOn(words, at, steps, 1)) found.add(kind)
    }
  }
}

/** Letters that stand alone, read as a word. */
class Spelling {
  #letters = ''

  /** @returns whether an order ends before the word */
  read (word: string): boolean {
    if (word.length === 1) {
      this.#letters += word
      return false
    }
    return this.ends()
  }

  /** @returns whether what was spelled out is an order */
  ends (): boolean {
    if (this.#letters === '') return false
    const isOrder = this.#letters.length >= SPELLED_OUT && RUN_TOGETHER.test(this.#letters)
    this.#letters = ''
    return isOrder
  }
}

/** Whether the steps from `next` on follow the word at `at`. */
function goesOn (words: readonly string[], at: number, steps: readonly Step[], next: number): boolean {
  const step = steps[next]
  if (step === undefined) return true
  const last = Math.min(words.length - 1, at + 1 + step.gap)
  for (let place = at + 1; place <= last; place++) {
    if (fits(words[place]!, step) && goesOn(words, place, steps, next + 1)) return true
  }
  return false
}

function fits (word: string, { exact, prefixes }: Step): boolean {
  return exact.has(word) || prefixes.some((prefix) => word.startsWith(prefix))
}

function compile (kind: InjectionKind, form: string): Rule {
  const steps: Step[] = []
  let gap = 0
  for (const part of form.split(' ')) {
    if (part.startsWith('~')) {
      gap = Number(part.slice(1))
      continue
    }
    const alternatives = part.split('|')
    steps.push({
      gap,
      exact: new Set(alternatives.filter((word) => !word.endsWith('*'))),
      prefixes: alternatives.filter((word) => word.endsWith('*')).map((word) => word.slice(0, -1)),
    })
    gap = 0
  }
  return { kind, steps }
}

function byFirstWord (rules: readonly Rule[]): Map<string, Rule[]> {
  const map = new Map<string, Rule[]>()
  for (const rule of rules) {
    for (const word of rule.steps[0]!.exact) map.set(word, [...map.get(word) ?? [], rule])
  }
  return map
}
