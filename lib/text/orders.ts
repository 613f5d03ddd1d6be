import { atOnce, type Steps } from '../steps.js'
import { ORDER_RULES, type OrderKind } from './order-rules.js'

/** A word of a rule. */
interface Step {
  /** How many other words may stand before it. */
  gap: number
  exact: ReadonlySet<string>
  prefixes: readonly string[]
}

interface Rule {
  kind: OrderKind
  steps: readonly Step[]
}

/** Letters that stand alone in a row from which on they are read as a word, as in `i g n o r e`. */
const SPELLED_OUT = 8
/** Beginnings of orders, without spaces. */
const RUN_TOGETHER = /ignore(?:all|any|the|your)*(?:previous|prior|above|earlier|instruction|rules)|disregard(?:all|any|the|your)*(?:previous|prior|above|earlier|instruction|rules)|forget(?:all|your)*(?:previous|prior|instruction)|systemprompt|youarenow|revealyour/

/** Words that are looked at in a step. */
const TOGETHER = 512

const RULES: ReadonlyMap<string, readonly Rule[]> = byFirstWord(ORDER_RULES.flatMap(({ kind, forms }) => forms.map((form) => compile(kind, form))))

/**
 * Which kinds of orders the words hold. Each word is looked at once as the beginning of an order, and then a bounded number behind it.
 * @param words of plainWords()
 */
export function ordersIn (words: readonly string[]): Set<OrderKind> {
  return atOnce(orderSteps(words))
}

/** ordersIn, for any number of words. */
export function * orderSteps (words: readonly string[]): Steps<Set<OrderKind>> {
  const found = new Set<OrderKind>()
  let spelled = ''
  for (let at = 0; at <= words.length; at++) {
    if (at % TOGETHER === TOGETHER - 1) yield
    const word = words[at]
    if (word?.length === 1) {
      spelled += word
    } else if (spelled !== '') {
      if (spelled.length >= SPELLED_OUT && RUN_TOGETHER.test(spelled)) found.add('override')
      spelled = ''
    }
    if (word === undefined) break
    for (const { kind, steps } of RULES.get(word) ?? []) {
      if (!found.has(kind) && goesOn(words, at, steps, 1)) found.add(kind)
    }
  }
  return found
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

function compile (kind: OrderKind, form: string): Rule {
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
