import { distance } from 'fastest-levenshtein'

/*
 * What messages say alike about requests and about the configuration.
 */

/** Characters of a word that is looked for: what is longer than every option by far is near none. */
const LOOKED_AT = 160

/**
 * The option that was probably meant: at most two letters or a third of them away (Levenshtein), or the one begins with
 * the other.
 * @returns undefined when nothing is near enough
 */
export function nearest (found: string, options: readonly string[]): string | undefined {
  const word = found.slice(0, LOOKED_AT).toLowerCase()
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

/** `; did you mean "x"?`, or nothing when no option is near. */
export function didYouMean (found: string, options: readonly string[]): string {
  const option = nearest(found, options)
  return option === undefined ? '' : `; did you mean "${option}"?`
}

/** A text in the words of its schema's `x-allowed`: `a text of letters, digits and -`. */
export function textThatIs (allowed: string): string {
  return allowed.startsWith('a ') ? allowed : `a text ${allowed}`
}
