import { UnusableInput } from '../checker.js'
import { formatTable } from '../table.js'
import { pairedBootstrap, type Difference } from './bootstrap.js'
import { byCategory, byRole, hasSessions } from './figures.js'
import type { Outcome } from './measure.js'
import { allAt, hitAt, ndcgAt, recallAt } from './metrics.js'
import { outcomesOf, runTitle, type Report } from './report.js'

const BY_GROUP = {
  'recall@10': ({ ranks }: Outcome) => recallAt(ranks, 10),
  'any@10': ({ ranks }: Outcome) => hitAt(ranks, 10),
  'session recall@5': ({ sessionRanks }: Outcome) => recallAt(sessionRanks, 5),
}
const OVERALL = {
  'recall@5': ({ ranks }: Outcome) => recallAt(ranks, 5),
  'recall@10': BY_GROUP['recall@10'],
  'recall@25': ({ ranks }: Outcome) => recallAt(ranks, 25),
  'any@10': BY_GROUP['any@10'],
  'nDCG@10': ({ ranks }: Outcome) => ndcgAt(ranks, 10),
  'session recall@5': BY_GROUP['session recall@5'],
  'session any@5': ({ sessionRanks }: Outcome) => hitAt(sessionRanks, 5),
  'session all@5': ({ sessionRanks }: Outcome) => allAt(sessionRanks, 5),
}

/** The outcomes of the same question in both runs. */
type OutcomePairs = ReadonlyArray<readonly [Outcome, Outcome]>

export interface Comparison extends Difference {
  /** `recall@10`, or with its category: `recall@10, temporal`. */
  figure: string
  questions: number
}

/**
 * Each figure of two runs over the same questions, b against a.
 * @throws UnusableInput when the runs did not ask the same questions
 */
export function compare (a: Report, b: Report): Comparison[] {
  const outcomePairs = pairOutcomes(a, b)
  const [ones, others] = [outcomePairs.map(([one]) => one), outcomePairs.map(([, other]) => other)]
  // Both runs have the same groups in the same order, because they asked the same questions.
  const paired = (groups: (outcomes: readonly Outcome[]) => Array<[string, Outcome[]]>) => {
    const second = new Map(groups(others))
    return groups(ones).map(
      ([name, outcomes]): [string, OutcomePairs] => (
        [name, outcomes.map((one, index) => [one, second.get(name)![index]!])]
      ),
    )
  }
  return [
    ...compareFigures(OVERALL, outcomePairs, ''),
    ...paired(byCategory).flatMap(([category, group]) => compareFigures(BY_GROUP, group, `, ${category}`)),
    ...paired(byRole).flatMap(([role, group]) => compareFigures(BY_GROUP, group, `, evidence: ${role}`)),
  ]
}

function compareFigures (
  figures: Record<string, (outcome: Outcome) => number>, outcomePairs: OutcomePairs, suffix: string,
): Comparison[] {
  return Object.entries(figures).flatMap(([name, valueOf]) => {
    const counted = name.startsWith('session') ? outcomePairs.filter(([one]) => hasSessions(one)) : outcomePairs
    if (counted.length === 0) return []
    const pairs =
      counted.map(([one, other]) => ({ conversation: one.conversation, a: valueOf(one), b: valueOf(other) }))
    return [{ figure: `${name}${suffix}`, questions: counted.length, ...pairedBootstrap(pairs) }]
  })
}

function pairOutcomes (a: Report, b: Report): OutcomePairs {
  const [first, second] = [outcomesOf(a), outcomesOf(b)]
  const keyOf = ({ conversation, question, category, ranks }: Outcome) =>
    JSON.stringify([conversation, question, category, ranks.length])
  const known = new Map(second.map((outcome) => [keyOf(outcome), outcome]))
  const pairs = first.flatMap((outcome) => {
    const other = known.get(keyOf(outcome))
    return other === undefined ? [] : [[outcome, other] as const]
  })
  if (first.length === 0 || pairs.length !== first.length || first.length !== second.length) {
    throw new UnusableInput(`the runs did not ask the same questions: ${first.length} on ${a.data} and ` +
      `${second.length} on ${b.data}, ${pairs.length} of them the same`)
  }
  return pairs
}

/**
 * Pairs the reports of two files: those on the same data. A file that holds several runs on the same data is narrowed
 * by `#NAME`.
 * @throws UnusableInput when there is none, or more than one
 */
export function pairReports (a: readonly Report[], b: readonly Report[]): Array<[Report, Report]> {
  const only = (reports: readonly Report[], data: string): Report => {
    const [first, ...more] = reports.filter((report) => report.data === data)
    if (first === undefined) throw new UnusableInput(`${data} was measured in one of the files only`)
    if (more.length > 0) {
      throw new UnusableInput(`a file holds ${more.length + 1} runs on ${data}: choose one, as in ` +
        `FILE#${first.pipeline}`)
    }
    return first
  }
  return [...new Set([...a, ...b].map(({ data }) => data))].map((data) => [only(a, data), only(b, data)])
}

/** The comparison for people; figures in per cent. */
export function formatComparison (a: Report, b: Report, comparisons: readonly Comparison[]): string {
  const percent = (value: number) => (value * 100).toFixed(1)
  const signed = (value: number) => `${value < 0 ? '' : '+'}${percent(value)}`
  return [
    `A: ${runTitle(a)}\nB: ${runTitle(b)}`,
    formatTable([
      ['%', 'questions', 'A', 'B', 'B - A', '95 % interval', 'conversations won by B'],
      ...comparisons.map(({ figure, questions, a: one, b: other, difference, low, high, won, conversations }) =>
        [
          figure, String(questions), percent(one), percent(other), signed(difference),
          `[${signed(low)}, ${signed(high)}]`, `${won}/${conversations}`,
        ]),
    ]),
  ].join('\n\n')
}
