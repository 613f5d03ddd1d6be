import { giveWay, isDue } from '../../concurrency/event-loop.js'
import { formatInstant } from '../../time/clock.js'
import type { Evidence } from '../../models/language-model.js'
import type { RetrievedHit } from '../../retrieval/candidates.js'
import type { Memory } from '../../stores/vector-store.js'
import { suspicionsIn } from '../../text/suspicion.js'
import { countTokens, sumTokens } from '../../text/tokens.js'
import { visibleText } from '../../text/visible.js'
import { isAtLeast, type Trust } from '../../identity/trust.js'

/** Evidence as the prompt shows it. */
export interface LabelledEvidence extends Evidence {
  source: string | null
  trust: Trust
}

export interface EvidenceBounds {
  maxMemories: number
  /** Tokens of all texts together. */
  maxTokens: number
  /** Evidence of less trust is left out. Default: none is. */
  minTrust?: Trust | undefined
}

export interface SelectedEvidence {
  /** In the order of the ranking; the first is cited as [1]. */
  hits: RetrievedHit[]
  evidence: LabelledEvidence[]
}

/** The candidates in the order in which they become evidence. */
export interface EvidenceCandidates {
  /** The best first. */
  readonly first: readonly RetrievedHit[]
  /** Tokens are kept for them, so that those before them do not use up all. */
  readonly later: readonly RetrievedHit[]
  readonly rest: readonly RetrievedHit[]
}

/** At most this share of the tokens that the best candidate does not need is kept for the later statements. */
const LATER_SHARE = 0.25

/**
 * Selects the best candidates within the bounds. One that does not fit is skipped for a smaller one after it; of a
 * memory that was split for search, the matching passages are used when the whole does not fit. A text that is in a
 * bank twice with the same time is used once. Texts are checked for suspicious content again, because a memory may be
 * older than the current rules.
 */
export async function selectEvidence ({ first, later, rest }: EvidenceCandidates, {
  maxMemories, maxTokens, minTrust = 'suspect',
}: EvidenceBounds): Promise<SelectedEvidence> {
  const picked: SelectedEvidence = { hits: [], evidence: [] }
  const seen = new Set<string>()
  const laterTokens = await sumTokens(later.map(({ memory }) => memory.tokens))
  let remainingTokens = maxTokens
  let reservedTokens = 0
  for (const [index, candidate] of [...first, ...later, ...rest].entries()) {
    if (picked.hits.length >= maxMemories || remainingTokens <= 0) break
    if (isDue()) await giveWay()
    const { bank } = candidate
    const memory = withCurrentTrust(candidate.memory)
    if (!isAtLeast(memory.trust, minTrust)) continue
    const key = JSON.stringify([bank.bankId, memory.text, memory.occurredAt])
    if (seen.has(key)) continue
    const excerpt = excerptOf(candidate, remainingTokens - (index < first.length ? reservedTokens : 0))
    if (excerpt === undefined) continue
    seen.add(key)
    remainingTokens -= excerpt.tokens
    if (picked.hits.length === 0) reservedTokens = Math.min(laterTokens, Math.floor(remainingTokens * LATER_SHARE))
    picked.hits.push({ ...candidate, memory })
    picked.evidence.push({
      text: visibleText(excerpt.text),
      bankId: bank.bankId,
      speaker: memory.speaker === null ? null : visibleText(memory.speaker),
      occurredAt: memory.occurredAt === null ? null : formatInstant(memory.occurredAt),
      retainedAt: formatInstant(memory.retainedAt),
      score: candidate.score,
      similarity: candidate.similarity,
      source: memory.source === null ? null : visibleText(memory.source),
      trust: memory.trust,
    })
  }
  return picked
}

function withCurrentTrust (memory: Memory): Memory {
  return memory.trust !== 'suspect' && suspicionsIn(memory.text).length > 0
    ? { ...memory, trust: 'suspect' }
    : memory
}

function excerptOf (
  { memory, passageCount, passages }: RetrievedHit, remainingTokens: number,
): { text: string, tokens: number } | undefined {
  if (memory.tokens.value <= remainingTokens) return { text: memory.text, tokens: memory.tokens.value }
  if (passageCount === 1) return undefined
  // As many of the best as fit, then sorted by position in the text.
  const chosen: Array<{ start: number, text: string }> = []
  let tokens = 0
  for (const { start, end } of passages) {
    const text = memory.text.slice(start, end)
    const cost = countTokens(text) + 2
    if (tokens + cost > remainingTokens) continue
    tokens += cost
    chosen.push({ start, text })
  }
  if (chosen.length === 0) return undefined
  return { text: chosen.sort((a, b) => a.start - b.start).map(({ text }) => text.trim()).join(' … '), tokens }
}
