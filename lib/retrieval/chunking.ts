import type { Steps } from '../concurrency/steps.js'
import { sentenceSteps, type Span } from '../text/sentences.js'

/** Sentences that one step packs into passages. */
const SENTENCES_PER_STEP = 512

/**
 * Splits a text into passages of at most `maxCharacters` UTF-16 units, at ends of sentences where it can, else at white
 * space, else between characters (never inside a surrogate pair). A text that fits is one passage over all of it.
 * @returns spans in order, not overlapping, that cover everything but white space
 */
export function * chunkSteps (text: string, maxCharacters: number): Steps<Span[]> {
  if (text.length <= maxCharacters) return [{ start: 0, end: text.length }]
  const spans: Span[] = []
  let current: Span | undefined
  let count = 0
  for (const sentence of yield * sentenceSteps(text)) {
    if (++count % SENTENCES_PER_STEP === 0) yield
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
