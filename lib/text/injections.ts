import { INJECTION_RULES, type InjectionKind } from './injection-rules.js'

/** A word of a rule. */
interface Step {
  /** The most other words between the previous word and this one. */
  gap: number
  exact: ReadonlySet<string>
  prefixes: readonly string[]
}

interface Rule {
  kind: InjectionKind
  steps: readonly Step[]
}

/** The least number of single letters in a row that is read as a word, as in `i g n o r e`. */
const MIN_SPELLED_LETTERS = 8
/** Beginnings of instructions, without spaces. */
const RUN_TOGETHER = new RegExp([
  'ignore(?:all|any|the|your)*(?:previous|prior|above|earlier|instruction|rules)',
  'disregard(?:all|any|the|your)*(?:previous|prior|above|earlier|instruction|rules)',
  'forget(?:all|your)*(?:previous|prior|instruction)',
  'systemprompt|youarenow|revealyour',
].join('|'))

const RULES: ReadonlyMap<string, readonly Rule[]> = byFirstWord(
  INJECTION_RULES.flatMap(({ kind, forms }) => forms.map((form) => compile(kind, form))),
)

/**
 * The kinds of instructions that occur in the words. Each word is checked as the first of a match, with a bounded
 * number of words after it.
 * @param words words of plainWords()
 */
export function injectionsIn (words: readonly string[]): Set<InjectionKind> {
  const found = new Set<InjectionKind>()
  const spelling = new Spelling()
  for (const [at, word] of words.entries()) {
    if (spelling.read(word)) found.add('override')
    for (const { kind, steps } of RULES.get(word) ?? []) {
      if (!found.has(kind) && matchesFrom(words, at, steps, 1)) found.add(kind)
    }
  }
  if (spelling.ends()) found.add('override')
  return found
}

/** Joins single letters in a row, to find instructions that are spelled out. */
class Spelling {
  #letters = ''

  /** @returns whether a spelled-out instruction ends before the word */
  read (word: string): boolean {
    if (word.length === 1) {
      this.#letters += word
      return false
    }
    return this.ends()
  }

  /** @returns whether the letters so far are an instruction */
  ends (): boolean {
    if (this.#letters === '') return false
    const isInstruction = this.#letters.length >= MIN_SPELLED_LETTERS && RUN_TOGETHER.test(this.#letters)
    this.#letters = ''
    return isInstruction
  }
}

/** Whether the words after `at` match the steps from `next` on. */
function matchesFrom (words: readonly string[], at: number, steps: readonly Step[], next: number): boolean {
  const step = steps[next]
  if (step === undefined) return true
  const last = Math.min(words.length - 1, at + 1 + step.gap)
  for (let place = at + 1; place <= last; place++) {
    if (matchesStep(words[place]!, step) && matchesFrom(words, place, steps, next + 1)) return true
  }
  return false
}

function matchesStep (word: string, { exact, prefixes }: Step): boolean {
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
