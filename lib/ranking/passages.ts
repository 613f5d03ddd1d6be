import { ServiceError } from '../base/service-error.js'
import type { EmbeddingProvider, EmbedOptions } from '../models/embedding-provider.js'
import { sentencesOf, type Span } from '../text/analysis.js'

/**
 * Where the passages of a text are. A text that fits is one passage.
 * @param maxCharacters the longest passage
 */
export function passageSpans (text: string, maxCharacters: number): Span[] {
  return text.length <= maxCharacters ? [{ start: 0, end: text.length }] : chunksOf(text, maxCharacters)
}

/**
 * Splits a text that is longer than `maxCharacters` UTF-16 units into passages of at most as many, at ends of sentences
 * where it can, else at white space, else between characters (never inside a surrogate pair).
 * @returns spans in order, not overlapping, that cover everything but white space
 */
export function chunksOf (text: string, maxCharacters: number): Span[] {
  const spans: Span[] = []
  let current: Span | undefined
  for (const sentence of sentencesOf(text)) {
    for (const piece of splitSentence(text, sentence, maxCharacters)) {
      if (current !== undefined && piece.end - current.start <= maxCharacters) {
        current.end = piece.end
      } else {
        current = { ...piece }
        spans.push(current)
      }
    }
  }
  return spans
}

/** Splits a sentence that is longer than a passage; any other sentence is returned whole. */
function * splitSentence (text: string, sentence: Span, maxCharacters: number): Generator<Span> {
  let { start } = sentence
  while (sentence.end - start > maxCharacters) {
    const end = splitPoint(text, start, start + maxCharacters)
    yield { start, end }
    start = end
    while (start < sentence.end && /\s/u.test(text[start]!)) start++
  }
  if (start < sentence.end) yield { start, end: sentence.end }
}

/**
 * The best place to cut at or before `limit`: after the last word in the second half of the passage, else between two
 * characters.
 */
function splitPoint (text: string, start: number, limit: number): number {
  for (let at = limit; at > start + (limit - start) / 2; at--) {
    if (/\s/u.test(text[at]!)) return at
  }
  const code = text.charCodeAt(limit)
  const splitsPair = code >= 0xdc00 && code <= 0xdfff
  return splitsPair ? limit - 1 : limit
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
