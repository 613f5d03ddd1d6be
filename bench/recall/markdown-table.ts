import { readFile, writeFile } from 'node:fs/promises'
import { UnusableInput } from '../checked.js'
import { groupBy } from './figures.js'
import { CATEGORIES, type Report } from './report.js'

const BEGIN = '<!-- table:begin -->'
const END = '<!-- table:end -->'

/**
 * One table of Markdown for each data set, a row a run, in the order given. Figures in per cent, latencies of a recall
 * over HTTP in milliseconds; a dash where the data have no such figure.
 */
export function markdownTables (reports: readonly Report[]): string {
  return [...groupBy(reports, ({ data }) => data)].map(([data, runs]) => {
    const { turns, overall: { questions } } = runs[0]!
    return [`**${data}** (${turns} memories, ${questions} questions)`, '', ...table(runs)].join('\n')
  }).join('\n\n')
}

function table (runs: readonly Report[]): string[] {
  const categories = Object.values(CATEGORIES)
  const head = ['pipeline', 'embedder', 'store', 'recall@5', '@10', '@25', 'hit@10', 'MRR', 'nDCG@10', ...categories.map((name) => `${name} @10`), 'session recall@5', 'p50 / p95 ms']
  return [line(head), `|---|---|---|${'--:|'.repeat(head.length - 3)}`, ...runs.map((run) => line(cells(run)))]
}

function cells ({ pipeline, embedder, store, overall, by_category: byCategory, latency_ms: { recall: latency } }: Report): string[] {
  const { recall_at_5: r5, recall_at_10: r10, recall_at_25: r25, hit_at_10: hit, mrr, ndcg_at_10: ndcg, sessions } = overall
  const categories = Object.values(CATEGORIES).map((name) => byCategory[name]?.recall_at_10)
  return [
    ...[pipeline, embedder, store].map(escapeCell),
    ...[r5, r10, r25, hit, mrr, ndcg, ...categories, sessions?.by_first.recall_at_5].map(percent),
    `${latency.p50.toFixed(1)} / ${latency.p95.toFixed(1)}`,
  ]
}

function percent (value: number | undefined): string {
  return value === undefined ? '–' : (value * 100).toFixed(1)
}

function escapeCell (text: string): string {
  return text.replaceAll('|', '\\|')
}

function line (cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

/**
 * Puts the tables in place of what stands between the markers.
 * @throws UnusableInput when the text has not each marker once, in order
 */
export function replaceTables (text: string, tables: string): string {
  const [before, rest, ...more] = text.split(BEGIN)
  const [, after, ...evenMore] = rest?.split(END) ?? []
  if (before === undefined || after === undefined || before.includes(END) || more.length + evenMore.length > 0) throw new UnusableInput(`there must be ${BEGIN} and, after it, ${END}, each once`)
  return `${before}${BEGIN}\n\n${tables}\n\n${END}${after}`
}

/** @throws UnusableInput when the file is not there or has no place for a table */
export async function writeTables (path: string, tables: string): Promise<void> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw new UnusableInput(`${path} cannot be read`)
  })
  await writeFile(path, replaceTables(text, tables))
}
