import { uuidv7Source } from '../../lib/base/ids.js'
import type { BankKey } from '../../lib/access/context.js'
import type { EmbeddingProvider } from '../../lib/models/embedding-provider.js'
import { mergeCandidates } from '../../lib/ranking/candidates.js'
import { passageSpans } from '../../lib/ranking/passages.js'
import { indexedPassages } from '../../lib/stores/passages.js'
import { MIN_CANDIDATES, spanFilters } from '../../lib/ranking/search.js'
import { analyzeQuery } from '../../lib/ranking/query.js'
import { rankingInputs, scoreBreakdown, SCORER_NAMES } from '../../lib/ranking/scoring/scorers.js'
import { SignalReader } from '../../lib/ranking/scoring/signals.js'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { newLife, optionalValues } from '../../lib/stores/memory-fields.js'
import type { NewMemory, SearchRequest } from '../../lib/stores/vector-store.js'
import { TokenCount } from '../../lib/text/tokens.js'
import type { Conversation } from '../recall/conversation.js'
import type { Example } from './softmax.js'

/** The columns of an example: the strategies as in linear fusion, then the scorers. */
export const COLUMNS = ['lexical', 'semantic', ...SCORER_NAMES] as const

const BANK: BankKey = { tenantId: null, bankId: 'fit' }
const BM25 = { k1: 0.9, length: { pivot: 25 }, context: true }

/**
 * Every answerable question with evidence, with the candidates that recall would rank for it and their scorer values.
 */
export async function makeExamples (
  conversations: readonly Conversation[], now: number, embeddings?: EmbeddingProvider,
): Promise<Example[]> {
  const examples: Example[] = []
  for (const conversation of conversations) {
    const store = new InMemoryVectorStore()
    const { memories, ids } = await memoriesOf(conversation, now, embeddings)
    await store.insert(BANK, memories, { now })
    const signals = new SignalReader()
    for (const { text, evidence, category, askedAt } of conversation.questions) {
      const question = analyzeQuery(text, askedAt ?? now)
      const vector = embeddings === undefined ? undefined : (await embeddings.embed([text], { purpose: 'query' }))[0]!
      const request: SearchRequest = {
        banks: [BANK],
        now,
        filters: {},
        limit: MIN_CANDIDATES,
        lexical: { terms: question.terms, ...BM25 },
        ...(vector !== undefined && { semantic: { vector } }),
      }
      const results = await Promise.all([
        store.search(request),
        ...spanFilters({}, question.namedPeriods).map(async (filters) => (
          await store.search({ ...request, filters, limit: MIN_CANDIDATES / 2 })
        )),
      ])
      const candidates = mergeCandidates(results, false)
      const inputs = rankingInputs(candidates, candidates.map(({ memory }) => signals.read(memory)), question)
      const features = new Float64Array(candidates.length * COLUMNS.length)
      const best = (strategy: 'lexical' | 'semantic') => Math.max(
        Number.MIN_VALUE, ...inputs.map(({ scores }) => scores[strategy] ?? 0),
      )
      const [mostLexical, mostSemantic] = [best('lexical'), best('semantic')]
      inputs.forEach((input, row) => {
        const { scores } = input
        const given = scoreBreakdown(input, question)
        features.set([
          (scores.lexical ?? 0) / mostLexical, (scores.semantic ?? 0) / mostSemantic,
          ...SCORER_NAMES.map((name) => given[name]),
        ], row * COLUMNS.length)
      })
      const wanted = new Set(evidence.map((turn) => ids.get(turn)!))
      examples.push({
        group: conversation.id,
        category,
        features,
        candidates: candidates.length,
        positives: candidates.flatMap(({ memory }, row) => wanted.has(memory.memoryId) ? [row] : []),
        wanted: wanted.size,
      })
    }
    await store.close()
  }
  return examples
}

async function memoriesOf (
  { format, sessions }: Conversation, now: number, embeddings?: EmbeddingProvider,
): Promise<{ memories: NewMemory[], ids: Map<string, string> }> {
  const newId = uuidv7Source(() => now)
  const ids = new Map<string, string>()
  const memories: NewMemory[] = []
  for (const { id, turns } of sessions) {
    for (const turn of turns) {
      // Only a text of more than 49,000 characters has several parts, and the first one represents it here.
      const text = turn.contents[0]!
      const memoryId = newId()
      ids.set(turn.id, memoryId)
      const passages = indexedPassages({ text, speaker: null }, passageSpans(text, 2000))
      const vectors = embeddings === undefined
        ? undefined
        : await embeddings.embed(passages.map(({ start, end }) => text.slice(start, end)), {})
      memories.push({
        ...optionalValues(() => null),
        message: null,
        ...newLife({ changedAt: now, changedBy: null }),
        memoryId,
        text,
        tags: [],
        metadata: turn.role === undefined ? {} : { speaker: turn.role },
        occurredAt: turn.occurredAt ?? null,
        retainedAt: now,
        documentId: format === 'facts' ? null : id,
        speaker: turn.role ?? null,
        tokens: TokenCount.known(0),
        trust: 'trusted',
        fingerprint: turn.id,
        passages: passages.map((passage, at) => ({
          ...passage, ...(vectors !== undefined && { vector: vectors[at]! }),
        })),
      })
    }
  }
  return { memories, ids }
}
