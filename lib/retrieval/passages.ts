import type { EmbeddingProvider, EmbedOptions } from '../models/embedding-provider.js'
import type { Passage } from '../stores/vector-store.js'
import { ServiceError } from '../errors/service-error.js'
import { runInTurns } from '../concurrency/steps.js'
import { analyzeSteps, analyzeText } from '../text/analysis.js'
import { PART_CHARACTERS } from '../text/parts.js'
import { turns } from '../concurrency/turn-budget.js'
import { chunkSteps } from './chunking.js'

/**
 * Splits each text into passages with their index terms, without vectors.
 * @param chunkMaxCharacters the longest passage
 * @param caller as in TurnBudget.next
 */
export async function makePassages (
  texts: readonly string[], chunkMaxCharacters: number, caller: string,
): Promise<Passage[][]> {
  const all: Passage[][] = []
  for (const text of texts) {
    const passages: Passage[] = []
    const spans = text.length <= chunkMaxCharacters
      ? [{ start: 0, end: text.length }]
      : await runInTurns(chunkSteps(text, chunkMaxCharacters), caller)
    for (const { start, end } of spans) {
      if (turns.isExhausted) await turns.next(caller)
      const passage = text.slice(start, end)
      const { terms, length, question } = passage.length <= PART_CHARACTERS
        ? analyzeText(passage)
        : await runInTurns(analyzeSteps(passage), caller)
      passages.push({ start, end, terms, length, question })
    }
    all.push(passages)
  }
  return all
}

/**
 * @throws ServiceError when the provider fails, or does not return one finite vector of its dimensions for each text
 */
export async function embed (
  provider: EmbeddingProvider, texts: readonly string[], options: EmbedOptions = {},
): Promise<Float32Array[]> {
  let vectors: Float32Array[]
  try {
    vectors = await provider.embed(texts, options)
  } catch (cause) {
    throw new ServiceError('dependency_unavailable', 'The embedding provider is unavailable', { cause })
  }
  const usable = Array.isArray(vectors) && vectors.length === texts.length && vectors.every((vector) =>
    vector instanceof Float32Array && vector.length === provider.dimensions && vector.every(Number.isFinite))
  if (!usable) throw new ServiceError('model_output_invalid', 'The embedding provider gave unusable vectors')
  return vectors
}
