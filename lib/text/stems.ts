import { stemmer } from 'stemmer'
import { IRREGULAR_FORMS } from './irregular-forms.js'

const PLAIN = /^[a-z]+$/
const CACHE_SIZE = 50_000
/**
 * In V8 a substring of 13 or more characters is a sliced string, which keeps the whole string alive. Only shorter words
 * may enter the cache, so that it does not keep the texts of deleted memories.
 */
const MAX_CACHED_CHARACTERS = 12

const cache = new Map<string, string>()

/**
 * The stem of an English word: M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, and before it
 * the word that an irregular form belongs to (`bought` is `buy`). A word with anything but `a`–`z` in it is returned as
 * it is.
 * @param word folded as `words` folds it
 */
export function stem (word: string): string {
  if (word.length > MAX_CACHED_CHARACTERS) return stemmed(word)
  const known = cache.get(word)
  if (known !== undefined) return known
  const result = stemmed(word)
  if (cache.size >= CACHE_SIZE) cache.clear()
  cache.set(word, result)
  return result
}

function stemmed (word: string): string {
  return PLAIN.test(word) ? stemmer(IRREGULAR_FORMS.get(word) ?? word) : word
}
