import { formatTable } from '../table.js'
import type { StoreName } from './options.js'
import { isViolated, type RoundResult } from './rounds.js'

export interface StoreReport {
  store: StoreName
  /** Kills of the gateway. */
  rounds: RoundResult[]
  /** Faults of the database; the gateway is killed after each. */
  faults: RoundResult[]
  skipped: string[]
  /** Faults found in the tables themselves at the end. */
  tableFaults: string[]
}

export interface Report {
  bench: 'durability'
  clients: number
  seed: number
  node: string
  stores: StoreReport[]
}

export function hasNoFault ({ rounds, faults, tableFaults }: StoreReport): boolean {
  return tableFaults.length === 0 && ![...rounds, ...faults].some(isViolated)
}

/** The report for people. */
export function formatReport ({ clients, seed, node, stores }: Report): string {
  return [`${clients} clients, seed ${seed}, Node ${node}`, ...stores.map(formatStore)].join('\n\n')
}

function formatStore (report: StoreReport): string {
  const { store, rounds, faults, skipped, tableFaults } = report
  const parts: string[] = []
  if (rounds.length > 0) parts.push(formatRounds(`${store}, kill -9`, rounds, true))
  if (faults.length > 0) parts.push(formatRounds(`${store}, fault`, faults, false))
  for (const { name, note } of faults) if (note !== undefined) parts.push(`${name}: ${note}`)
  if (rounds.some(({ interrupted }) => interrupted)) {
    parts.push('* the first restart was also killed, at a random moment')
  }
  parts.push(...skipped.map((what) => `skipped: ${what}`))
  parts.push(
    tableFaults.length === 0
      ? 'tables: postings, vectors and counts agree with the memories'
      : `tables: ${tableFaults.join('; ')}`,
  )
  for (const { name, examples } of [...rounds, ...faults]) {
    parts.push(...examples.map((example) => `${name}: ${example}`))
  }
  return parts.join('\n\n')
}

function formatRounds (head: string, results: readonly RoundResult[], sum: boolean): string {
  const rows = results.map((result) => [
    result.name, ...[
      result.acknowledged, result.unacknowledgedFound, result.lost, result.duplicates, result.partial, result.refused,
      result.broken,
    ].map(String),
    `${result.keys - result.keysWrong}/${result.keys}`, `${result.recalled - result.notRecalled}/${result.recalled}`,
    `${result.restartMs.toFixed(0)}${result.interrupted ? ' *' : ''}`,
  ])
  const total = (count: (result: RoundResult) => number) => String(
    results.reduce((all, result) => all + count(result), 0),
  )
  return formatTable([
    [
      head, 'acknowledged', 'unacknowledged found', 'lost', 'duplicates', 'partial', 'refused', 'broken', 'keys',
      'recalled', 'restart ms',
    ],
    ...rows,
    ...sum
      ? [['all', total((result) => (
          result.acknowledged
        )), total((result) => (
          result.unacknowledgedFound
        )), total((result) => result.lost), total((result) => result.duplicates),
        total((result) => result.partial), total((result) => result.refused), total((result) => result.broken),
          `${total((result) => result.keys - result.keysWrong)}/${total((result) => result.keys)}`,
          `${total((result) => result.recalled - result.notRecalled)}/${total((result) => result.recalled)}`, '']]
      : [],
  ])
}
