import { Type, type Static } from 'typebox'
import { checker, UnusableInput } from '../checker.js'
import { summarize } from '../percentiles.js'
import { formatTable } from '../table.js'
import { parseJson, readTextFile } from './conversation.js'
import { byCategory, byRole, Figures, figuresOf, groupBy } from './figures.js'
import type { Measurement, Outcome } from './measure.js'

/** Data of more conversations than these are shown without a row for each. */
const CONVERSATIONS_SHOWN = 12

const Latency = Type.Object({ p50: Type.Number(), p95: Type.Number(), p99: Type.Number() })
/** JSON has no Infinity: null means not found. */
const Ranks = Type.Array(Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 1 }))

/** What was measured: names only, no settings, because they may contain keys. */
export const RunName = Type.Object({
  /** Name of the data's file, without its folder. */
  data: Type.String(),
  pipeline: Type.String(),
  embedder: Type.String(),
  store: Type.String(),
})
export type RunName = Static<typeof RunName>

const StoredOutcome = Type.Object({
  conversation: Type.String(),
  question: Type.Integer(),
  category: Type.String(),
  ranks: Ranks,
  roles: Type.Array(Type.String()),
  session_ranks: Ranks,
  session_score_ranks: Ranks,
})

/** A run's figures, and the outcome of each question. It holds no text of the data: their licences may forbid that. */
export const Report = Type.Object({
  bench: Type.Literal('recall'),
  ...RunName.properties,
  turns: Type.Integer(),
  repeats: Type.Integer(),
  embedding_wait_ms: Type.Number(),
  overall: Figures,
  by_category: Type.Record(Type.String(), Figures),
  /** By who said the evidence; empty when the data tell no roles. */
  by_role: Type.Record(Type.String(), Figures),
  by_conversation: Type.Record(Type.String(), Figures),
  latency_ms: Type.Object({ retain: Latency, recall: Latency }),
  outcomes: Type.Array(StoredOutcome),
})
export type Report = Static<typeof Report>

export function makeReport (
  name: RunName, { outcomes, turns, repeats, retainMs, recallMs, embeddingWaitMs }: Measurement,
): Report {
  return {
    bench: 'recall',
    ...name,
    turns,
    repeats,
    embedding_wait_ms: embeddingWaitMs,
    overall: figuresOf(outcomes),
    by_category: figuresByName(byCategory(outcomes)),
    by_role: figuresByName(byRole(outcomes)),
    by_conversation: figuresByName([...groupBy(outcomes, ({ conversation }) => conversation)]),
    latency_ms: { retain: summarize(retainMs), recall: summarize(recallMs) },
    outcomes: outcomes.map(({ conversation, question, category, ranks, roles, sessionRanks, sessionScoreRanks }) => ({
      conversation,
      question,
      category,
      ranks: ranks.map(finiteOrNull),
      roles,
      session_ranks: sessionRanks.map(finiteOrNull),
      session_score_ranks: sessionScoreRanks.map(finiteOrNull),
    })),
  }
}

function figuresByName (groups: ReadonlyArray<readonly [string, readonly Outcome[]]>): Record<string, Figures> {
  return Object.fromEntries(groups.map(([name, outcomes]) => [name, figuresOf(outcomes)]))
}

const checkReport = checker(Report, 'a report of bench:recall')

/**
 * The reports of a file, which holds one or a list of them.
 * @param path with `#NAME` at its end, only those with that label, or else of that pipeline
 * @throws UnusableInput when the file holds no such report
 */
export async function readReports (path: string): Promise<Report[]> {
  const [, file = path, pipeline] = /^(.+)#([^#/]+)$/.exec(path) ?? []
  const found = parseJson(await readTextFile(file), file)
  const all = (Array.isArray(found) ? found : [found]).map(checkReport)
  const labelled = all.filter((report) => runLabel(report) === pipeline)
  const reports = pipeline === undefined
    ? all
    : labelled.length > 0 ? labelled : all.filter((report) => report.pipeline === pipeline)
  if (reports.length === 0) {
    throw new UnusableInput(`${file} holds no report${pipeline === undefined ? '' : ` of ${pipeline}`}`)
  }
  return reports
}

export function outcomesOf ({ outcomes }: Report): Outcome[] {
  return outcomes.map(({
    conversation, question, category, ranks, roles, session_ranks: sessionRanks, session_score_ranks: sessionScoreRanks,
  }) => ({
    conversation,
    question,
    category,
    ranks: ranks.map(nullOrInfinity),
    roles,
    sessionRanks: sessionRanks.map(nullOrInfinity),
    sessionScoreRanks: sessionScoreRanks.map(nullOrInfinity),
  }))
}

const finiteOrNull = (rank: number) => Number.isFinite(rank) ? rank : null
const nullOrInfinity = (rank: number | null) => rank ?? Infinity

/** The report for people. */
export function formatReport (report: Report): string {
  const { turns, repeats, overall, embedding_wait_ms: waited, by_conversation: conversations, latency_ms: latency } =
    report
  const each = Object.entries(conversations)
  const rows: Array<[string, Figures]> = [
    ['overall', overall], ...groupsOf(report), ...(each.length > CONVERSATIONS_SHOWN ? [] : each),
  ]
  const withSessions =
    rows.flatMap(([name, { sessions }]) => sessions === undefined ? [] : [[name, ...sessionCells(sessions)]])
  return [
    `${runTitle(report)}: ${turns} turns${repeats > 0 ? `, ${repeats} of them exact repeats` : ''}`,
    formatTable([
      ['', 'questions', 'recall@5', 'recall@10', 'recall@25', 'any@10', 'MRR', 'nDCG@10'],
      ...rows.map(([name, figures]) => [name, ...turnCells(figures)]),
    ]),
    ...(withSessions.length === 0
      ? []
      : [
          formatTable([
            [
              'sessions', 'recall@5', 'recall@10', 'any@5', 'any@10', 'all@5',
              'by score: recall@5', 'recall@10', 'any@5', 'any@10', 'all@5',
            ],
            ...withSessions,
          ]),
        ]),
    formatTable([
      ['latency, ms', 'p50', 'p95', 'p99'],
      ...Object.entries(latency)
        .map(([name, { p50, p95, p99 }]) => [name, ...[p50, p95, p99].map((value) => value.toFixed(2))]),
    ]),
    ...(waited >= 1000 ? [`waited ${(waited / 1000).toFixed(1)} s for embeddings`] : []),
  ].join('\n\n')
}

/** Figures of the parts of a run: by category, then by who said the evidence. */
export function groupsOf ({ by_category: categories, by_role: roles }: Report): Array<[string, Figures]> {
  return [
    ...Object.entries(categories),
    ...Object.entries(roles).map(([role, figures]): [string, Figures] => [`evidence: ${role}`, figures]),
  ]
}

/** A run in a word or two: `default`, `local`, `default + openai_compatible (small), postgres`. */
export function runLabel ({ pipeline, embedder, store }: Omit<RunName, 'data'>): string {
  const model = embedder === 'none' || embedder === pipeline ? '' : ` + ${embedder}`
  return `${pipeline}${model}${store === 'in_memory' || store === pipeline ? '' : `, ${store}`}`
}

export function runTitle ({ data, pipeline, embedder, store }: RunName): string {
  return `${data}, pipeline ${pipeline}, embedder ${embedder}, store ${store}`
}

function turnCells (
  { questions, recall_at_5: r5, recall_at_10: r10, recall_at_25: r25, hit_at_10: hit, mrr, ndcg_at_10: ndcg }: Figures,
): string[] {
  return [String(questions), ...[r5, r10, r25, hit, mrr, ndcg].map((value) => value.toFixed(3))]
}

function sessionCells ({ by_first: first, by_score: score }: NonNullable<Figures['sessions']>): string[] {
  return [first, score].flatMap(({
    recall_at_5: r5, recall_at_10: r10, hit_at_5: any5, hit_at_10: any10, all_at_5: all5,
  }) => [r5, r10, any5, any10, all5]).map((value) => value.toFixed(3))
}
