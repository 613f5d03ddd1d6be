import { formatInstant } from '../../time/clock.js'

export interface Statement {
  /** Stems of all words; stop words unstemmed. */
  terms: ReadonlySet<string>
  /** Stems of the words that are not stop words, in order. */
  contentTerms: readonly string[]
  /** Milliseconds since the epoch; null when unknown. */
  instant: number | null
  /** Whether `instant` is when the statement was stored, because it has no time of its own. */
  isStoredAt: boolean
}

/** A statement with the date that distinguishes it from those that contradict it. */
export interface DatedStatement<S extends Statement> {
  statement: S
  /**
   * In UTC, to the day, or as far as needed to distinguish it; `stored …` for the time of storage. Null for a statement
   * that contradicts no other.
   */
  date: string | null
  /** Whether a later one contradicts it. */
  earlier: boolean
}

/** Characters of an instant up to its day, minute and second, and the whole without the time zone. */
const PRECISIONS = [10, 16, 19, 23]
/** Words at the beginning that name the same subject. */
const LEADING = 2
const NEGATIONS = new Set(`no not never dont doesnt didnt isnt arent wasnt werent hasnt havent hadnt wont wouldnt cant
couldnt shouldnt mustnt`.split(/\s+/))

/**
 * Groups statements that contradict each other, the latest first, at the rank of the best of them. Two statements
 * contradict each other when they have different times and the same subject, and each has a content word that the other
 * lacks or only one of them is negated. They have the same subject when they begin with the same two content words,
 * share most content words, or begin with the same content word and share most of all words. The rule compares words
 * and not meaning, so the only effect of a contradiction is that the statements are dated.
 * @param statements best first
 */
export function orderContradictions<S extends Statement> (statements: readonly S[]): Array<DatedStatement<S>> {
  const placed: Array<DatedStatement<S>> = []
  const remaining = new Set(statements)
  for (const first of statements) {
    if (remaining.delete(first)) placed.push(...orderGroup(takeGroup(first, remaining)))
  }
  return placed
}

/** Removes from `remaining` and returns the statements that contradict the first one, directly or through others. */
function takeGroup<S extends Statement> (first: S, remaining: Set<S>): S[] {
  const group = [first]
  for (const member of group) {
    for (const other of remaining) {
      if (!contradict(member, other)) continue
      remaining.delete(other)
      group.push(other)
    }
  }
  return group
}

function orderGroup<S extends Statement> (group: readonly S[]): Array<DatedStatement<S>> {
  if (group.length === 1) return group.map((statement) => ({ statement, date: null, earlier: false }))
  const instants = group.map(({ instant }) => instant ?? 0)
  const latest = Math.max(...instants)
  const distinct = [...new Set(instants)].map(formatInstant)
  const length = PRECISIONS.find((length) => (
    new Set(distinct.map((text) => text.slice(0, length))).size === distinct.length
  ))
  return [...group]
    .sort((a, b) => (b.instant ?? 0) - (a.instant ?? 0))
    .map((statement) => {
      const date = formatInstant(statement.instant ?? 0).slice(0, length).replace('T', ' ')
      return {
        statement,
        date: statement.isStoredAt ? `stored ${date}` : date,
        earlier: (statement.instant ?? 0) < latest,
      }
    })
}

function contradict (one: Statement, other: Statement): boolean {
  if (one.instant === null || other.instant === null || one.instant === other.instant) return false
  return haveOneSubject(one, other) && differ(one, other)
}

function haveOneSubject (one: Statement, other: Statement): boolean {
  const [first, second] = [one.contentTerms, other.contentTerms]
  const beginAlike = (words: number) => (
    Math.min(first.length, second.length) >= words &&
    first.slice(0, words).every((term, index) => second[index] === term)
  )
  if (beginAlike(LEADING)) return true
  if (shareMajority(new Set(first), new Set(second))) return true
  return beginAlike(1) && shareMajority(one.terms, other.terms)
}

function shareMajority (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  const shared = [...one].filter((term) => other.has(term)).length
  return shared >= LEADING && shared > Math.min(one.size, other.size) / 2
}

function differ (one: Statement, other: Statement): boolean {
  const hasOwn = (a: Statement, b: Statement) => a.contentTerms.some((term) => !b.terms.has(term))
  return isNegated(one) !== isNegated(other) || (hasOwn(one, other) && hasOwn(other, one))
}

function isNegated ({ terms }: Statement): boolean {
  return [...terms].some((term) => NEGATIONS.has(term))
}
