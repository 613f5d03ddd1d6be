import { bankKeyString } from '../../identity/context.js'
import { candidateKey, type RetrievedHit } from '../../retrieval/candidates.js'
import type { RetrievalRequest, Retriever } from '../../retrieval/retriever.js'
import { speakerOf } from '../../stores/speaker.js'
import type { Memory } from '../../stores/vector-store.js'

/** Number of best hits from which the search looks further. */
const ANCHORS = 2
/** Number of best hits that stand before the later statements in the evidence. */
const FIRST = 10
const MAX_LATER = 5
const ANCHOR_CHARACTERS = 300
/** Words by which people tell that something is no longer as it was. */
const CHANGES = 'moved changed switched became began started stopped quit left sold cancelled postponed renamed ' +
  'replaced instead anymore no longer now since except actually sorry'

/**
 * Looks further from the best hits for what the same speaker said later: by their texts, and by the words that tell a
 * change together with the question. One more retrieval with the filters and banks of the first.
 * @returns the hits with the later statements after the first ones
 */
export async function withLaterStatements (
  hits: readonly RetrievedHit[], request: RetrievalRequest, retriever: Retriever,
): Promise<readonly RetrievedHit[]> {
  const anchors = hits.slice(0, ANCHORS)
  const [best, ...others] = anchors.map(({ memory }) => memory.text.slice(0, ANCHOR_CHARACTERS))
  if (best === undefined) return hits
  const found = await retriever.retrieve({
    ...request, query: best, rewrites: [`${request.query} ${CHANGES}`, ...others], minScore: 0,
  })
  const first = hits.slice(0, FIRST)
  const known = new Set(first.map(candidateKey))
  const later = found.hits
    .filter((hit) => !known.has(candidateKey(hit)) && anchors.some((anchor) => isLater(hit, anchor)))
    .slice(0, MAX_LATER)
    // Their scores are for other queries.
    .map((hit) => ({ ...hit, score: 0, similarity: undefined }))
  for (const hit of later) known.add(candidateKey(hit))
  return [...first, ...later, ...hits.slice(FIRST).filter((hit) => !known.has(candidateKey(hit)))]
}

function isLater (hit: RetrievedHit, anchor: RetrievedHit): boolean {
  const speaker = speakerOf(hit.memory)
  return bankKeyString(hit.bank) === bankKeyString(anchor.bank) &&
    timeOf(hit.memory) > timeOf(anchor.memory) &&
    (speaker === null || speaker === speakerOf(anchor.memory))
}

function timeOf ({ occurredAt, retainedAt }: Memory): number {
  return occurredAt ?? retainedAt
}
