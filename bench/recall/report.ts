import { Type, type Static } from 'typebox'
import { checker } from '../checked.js'
import { summarize } from '../percentiles.js'
import { formatTable } from '../table.js'
import { parseJson, readTextFile } from './conversation.js'
import { Figures, figuresOf, groupBy } from './figures.js'
import type { Measurement, Outcome } from './measure.js'

/** By number, as the data set counts them. */
export const CATEGORIES: Readonly<Record<number, string>> = { 1: 'multi-hop', 2: 'temporal', 3: 'open-domain', 4: 'single-hop' }

const Latency = Type.Object({ p50: Type.Number(), p95: Type.Number(), p99: Type.Number() })
/** JSON has no Infinity: null stands for what was not found. */
const Ranks = Type.Array(Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 1 }))

/** What was measured: names only, never a setting, for there may be keys among them. */
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
  category: Type.Integer(),
  ranks: Ranks,
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
  by_conversation: Type.Record(Type.String(), Figures),
  latency_ms: Type.Object({ retain: Latency, recall: Latency }),
  outcomes: Type.Array(StoredOutcome),
})
export type Report = Static<typeof Report>

export function makeReport (name: RunName, { outcomes, turns, repeats, retainMs, recallMs, embeddingWaitMs }: Measurement): Report {
  const categories = [...groupBy(outcomes, ({ category }) => category)].sort(([a], [b]) => a - b)
  const conversations = [...groupBy(outcomes, ({ conversation }) => conversation)]
  return {
    bench: 'recall',
    ...name,
    turns,
    repeats,
    embedding_wait_ms: embeddingWaitMs,
    overall: figuresOf(outcomes),
    by_category: Object.fromEntries(categories.map(([category, group]) => [CATEGORIES[category] ?? String(category), figuresOf(group)])),
    by_conversation: Object.fromEntries(conversations.map(([conversation, group]) => [conversation, figuresOf(group)])),
    latency_ms: { retain: summarize(retainMs), recall: summarize(recallMs) },
    outcomes: outcomes.map(({ conversation, question, category, ranks, sessionRanks, sessionScoreRanks }) => ({
      conversation,
      question,
      category,
      ranks: ranks.map(finiteOrNull),
      session_ranks: sessionRanks.map(finiteOrNull),
      session_score_ranks: sessionScoreRanks.map(finiteOrNull),
    })),
  }
}

const checkReport = checker(Report, 'a report of bench:recall')

/** @throws UnusableInput when the file holds no report */
export async function readReport (path: string): Promise<Report> {
  return checkReport(parseJson(await readTextFile(path), path))
}

export function outcomesOf ({ outcomes }: Report): Outcome[] {
  return outcomes.map(({ conversation, question, category, ranks, session_ranks: sessionRanks, session_score_ranks: sessionScoreRanks }) => ({
    conversation,
    question,
    category,
    ranks: ranks.map(nullOrInfinity),
    sessionRanks: sessionRanks.map(nullOrInfinity),
    sessionScoreRanks: sessionScoreRanks.map(nullOrInfinity),
  }))
}

const finiteOrNull = (rank: number) => Number.isFinite(rank) ? rank : null
const nullOrInfinity = (rank: number | null) => rank ?? Infinity

/** The report for people. */
export function formatReport (report: Report): string {
  const { turns, repeats, overall, embedding_wait_ms: waited, by_category: byCategory, by_conversation: byConversation, latency_ms: latency } = report
  const rows: Array<[string, Figures]> = [['overall', overall], ...Object.entries(byCategory), ...Object.entries(byConversation)]
  const withSessions = rows.flatMap(([name, { sessions }]) => sessions === undefined ? [] : [[name, ...sessionCells(sessions)]])
  return [
    `${runTitle(report)}: ${turns} turns${repeats > 0 ? `, ${repeats} of them exact repeats` : ''}`,
    formatTable([['', 'questions', 'recall@5', 'recall@10', 'recall@25', 'hit@10', 'MRR', 'nDCG@10'], ...rows.map(([name, figures]) => [name, ...turnCells(figures)])]),
    ...(withSessions.length === 0 ? [] : [formatTable([['sessions', 'recall@5', 'recall@10', 'hit@5', 'by score: recall@5', 'recall@10', 'hit@5'], ...withSessions])]),
    formatTable([
      ['latency, ms', 'p50', 'p95', 'p99'],
      ...Object.entries(latency).map(([name, { p50, p95, p99 }]) => [name, ...[p50, p95, p99].map((value) => value.toFixed(2))]),
    ]),
    ...(waited >= 1000 ? [`embeddings were waited for ${(waited / 1000).toFixed(1)} s`] : []),
  ].join('\n\n')
}

export function runTitle ({ data, pipeline, embedder, store }: RunName): string {
  return `${data}, pipeline ${pipeline}, embedder ${embedder}, store ${store}`
}

function turnCells ({ questions, recall_at_5: r5, recall_at_10: r10, recall_at_25: r25, hit_at_10: hit, mrr, ndcg_at_10: ndcg }: Figures): string[] {
  return [String(questions), ...[r5, r10, r25, hit, mrr, ndcg].map((value) => value.toFixed(3))]
}

function sessionCells ({ by_first: first, by_score: score }: NonNullable<Figures['sessions']>): string[] {
  return [first, score].flatMap(({ recall_at_5: r5, recall_at_10: r10, hit_at_5: hit }) => [r5, r10, hit]).map((value) => value.toFixed(3))
}
