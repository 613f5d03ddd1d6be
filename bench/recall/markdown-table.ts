import { readFile, writeFile } from 'node:fs/promises'
import { UnusableInput } from '../checker.js'
import { groupBy, type Figures } from './figures.js'
import { groupsOf, runLabel, type Report } from './report.js'

const BEGIN = '<!-- table:begin -->'
const END = '<!-- table:end -->'

const HEAD = [
  'data, part', 'questions', 'run', 'recall@5', 'recall@10', 'any@10', 'session any@5', 'any@10', 'all@5', 'MRR',
  'nDCG@10',
] as const

/**
 * One table over all runs: for each data set all its questions, with a row a run, then each part of them, with a row
 * for each of `runsOfParts`. Figures are in per cent, those before `session` are of turns. A dash means that the data
 * have no such figure.
 */
export function overview (
  reports: readonly Report[], runsOfParts = (runs: readonly Report[]): readonly Report[] => runs,
): string[][] {
  return [[...HEAD], ...[...groupBy(reports, ({ data }) => data)].flatMap(([data, runs]) => {
    const parts = [...new Set(runs.flatMap((run) => groupsOf(run).map(([name]) => name)))]
    return [
      ...runs.map((run, at) => [at === 0 ? data : '', ...cells(run, run.overall, at)]),
      ...parts.flatMap((part) => runsOfParts(runs).flatMap((run, at) => {
        const figures = new Map(groupsOf(run)).get(part)
        return figures === undefined ? [] : [[at === 0 ? part : '', ...cells(run, figures, at)]]
      })),
    ]
  })]
}

function cells (run: Report, figures: Figures, at: number): string[] {
  const { questions, recall_at_5: r5, recall_at_10: r10, hit_at_10: any10, mrr, ndcg_at_10: ndcg, sessions } = figures
  const first = sessions?.by_first
  return [
    at === 0 ? String(questions) : '', runLabel(run),
    ...[r5, r10, any10, first?.hit_at_5, first?.hit_at_10, first?.all_at_5, mrr, ndcg].map(percent),
  ]
}

/** The same in Markdown, with the names of the data in bold, and the parts for the last run only. */
export function markdownTable (reports: readonly Report[]): string {
  const [head = [], ...rows] = overview(reports, (runs) => runs.slice(-1))
  const names = new Set(reports.map(({ data }) => data))
  const shown = rows.map(([name = '', ...rest]) => [
    names.has(name) ? `**${escapeCell(name)}**` : escapeCell(name), ...rest.map(escapeCell),
  ])
  return [line(head), `|---|--:|---|${'--:|'.repeat(head.length - 3)}`, ...shown.map(line)].join('\n')
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
 * Replaces the text between the markers with the tables.
 * @throws UnusableInput unless the text has each marker once, in order
 */
export function replaceTable (text: string, table: string): string {
  const [before, rest, ...more] = text.split(BEGIN)
  const [, after, ...evenMore] = rest?.split(END) ?? []
  if (before === undefined || after === undefined || before.includes(END) || more.length + evenMore.length > 0) {
    throw new UnusableInput(`there must be ${BEGIN} and, after it, ${END}, each once`)
  }
  return `${before}${BEGIN}\n\n${table}\n\n${END}${after}`
}

/** @throws UnusableInput when the file does not exist or has no place for a table */
export async function writeTable (path: string, table: string): Promise<void> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw new UnusableInput(`${path} cannot be read`)
  })
  await writeFile(path, replaceTable(text, table))
}
