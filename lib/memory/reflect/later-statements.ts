import { ServiceError } from '../../errors/service-error.js'
import { bankKeyString } from '../../identity/context.js'
import { candidateKey, type RetrievedHit } from '../../retrieval/candidates.js'
import type { RetrievalRequest, RetrievalSettings, Retrieved, Retriever } from '../../retrieval/retriever.js'
import type { Memory } from '../../stores/vector-store.js'
import type { EvidenceCandidates } from './evidence.js'

/** Number of best hits from which the search looks further. */
const ANCHORS = 2
/** Number of best hits that stand before the later statements in the evidence. */
const FIRST = 10
const MAX_LATER = 5
/** The later statements have at most every fourth place of the evidence, and not the only one. */
const PLACES_PER_LATER = 4
const ANCHOR_CHARACTERS = 300
/** Words by which people tell that something is no longer as it was. */
const CHANGES = 'moved changed switched became began started stopped quit left sold cancelled postponed renamed ' +
  'replaced instead anymore no longer now since except actually sorry'

/** The candidates for evidence in their order, and the stages that the second search skipped. */
export interface WithLater {
  readonly candidates: EvidenceCandidates
  readonly degraded: Retrieved['degraded']
}

/**
 * Looks further from the best hits for what the same speaker said later: by their texts, and by the words that tell a
 * change together with the question. One more retrieval with the filters and banks of the first. When it fails, the
 * first hits are the candidates.
 * @param warn is called with the reason when the retrieval fails
 */
export async function withLaterStatements (
  { hits, degraded }: Pick<Retrieved, 'hits' | 'degraded'>, request: RetrievalRequest, retriever: Retriever,
  { maxMemories, warn }: { maxMemories: number, warn: (message: string) => void },
): Promise<WithLater> {
  const maxLater = Math.min(MAX_LATER, Math.ceil((maxMemories - 1) / PLACES_PER_LATER))
  const anchors = hits.slice(0, ANCHORS)
  const [best, ...others] = anchors.map(({ memory }) => memory.text.slice(0, ANCHOR_CHARACTERS))
  const without = { candidates: { first: hits, later: [], rest: [] }, degraded }
  if (best === undefined || maxLater === 0) return without
  let found: Retrieved
  try {
    found = await retriever.retrieve({
      ...request,
      query: best,
      rewrites: [`${request.query} ${CHANGES}`, ...others],
      minScore: 0,
      // An embedding that has just failed or was late is not waited for again.
      ...(degraded.includes('semantic') && { settings: withoutSemantic(request.settings) }),
    })
  } catch (error) {
    if (request.signal?.aborted === true || !(error instanceof ServiceError)) throw error
    warn(`reflect answers without later statements of the same speaker: ${error.code}, ${error.message}`)
    return without
  }
  const first = hits.slice(0, Math.min(FIRST, maxMemories - maxLater))
  const known = new Set(first.map(candidateKey))
  const later = found.hits
    .filter((hit) => !known.has(candidateKey(hit)) && anchors.some((anchor) => isLater(hit, anchor)))
    .slice(0, maxLater)
    // Their scores are for other queries.
    .map((hit) => ({ ...hit, score: 0, similarity: undefined }))
  for (const hit of later) known.add(candidateKey(hit))
  return {
    candidates: { first, later, rest: hits.slice(first.length).filter((hit) => !known.has(candidateKey(hit))) },
    degraded: [...new Set([...degraded, ...found.degraded])],
  }
}

function withoutSemantic (settings: RetrievalSettings): RetrievalSettings {
  return { ...settings, weights: { ...settings.weights, semantic: 0 } }
}

function isLater (hit: RetrievedHit, anchor: RetrievedHit): boolean {
  const { speaker } = hit.memory
  return bankKeyString(hit.bank) === bankKeyString(anchor.bank) &&
    timeOf(hit.memory) > timeOf(anchor.memory) &&
    (speaker === null || speaker === anchor.memory.speaker)
}

function timeOf ({ occurredAt, retainedAt }: Memory): number {
  return occurredAt ?? retainedAt
}
