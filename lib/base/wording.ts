import { distance } from 'fastest-levenshtein'

/** Maximum length of a word that is compared; a longer one is not similar to any option. */
const MAX_COMPARED = 160

/**
 * The option that was probably meant: its Levenshtein distance is at most two, or a third of the length, or one word
 * begins with the other.
 * @returns undefined when no option is similar enough
 */
export function nearest (found: string, options: readonly string[]): string | undefined {
  const word = found.slice(0, MAX_COMPARED).toLowerCase()
  let best: { option: string, distance: number } | undefined
  for (const option of options) {
    const candidate = { option, distance: distance(word, option.toLowerCase()) }
    if (best === undefined || candidate.distance < best.distance) best = candidate
  }
  if (best === undefined) return undefined
  const length = Math.max(word.length, best.option.length)
  if (best.distance <= Math.max(length < 4 ? 1 : 2, Math.floor(length / 3))) return best.option
  return options.find((option) => (
    Math.min(word.length, option.length) >= 3 && (option.startsWith(word) || word.startsWith(option))
  ))
}

/** `; did you mean "x"?`, or an empty text when no option is similar. */
export function didYouMean (found: string, options: readonly string[]): string {
  const option = nearest(found, options)
  return option === undefined ? '' : `; did you mean "${option}"?`
}

/** The expected text, from its schema's `x-allowed`: `a text of letters, digits and -`. */
export function textThatIs (allowed: string): string {
  return /^an? /.test(allowed) ? allowed : `a text ${allowed}`
}

/** The name of a member in messages: an empty one would leave the sentence without a subject. */
export function memberName (name: string): string {
  return name === '' ? '""' : name
}
