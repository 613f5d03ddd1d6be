import { addQueryAlternatives } from '../../lib/text/alternative-terms.js'
import { contentStems } from '../../lib/text/analysis.js'
import { words } from '../../lib/text/words.js'

/**
 * The distinct terms of a query, in order, and after them their alternatives, but none of the words that a question of
 * another form leaves out or adds: tests of stores and of the analysis need terms that do not depend on the retrieval.
 * Stop words are dropped, unless the query has no other word.
 */
export function queryTerms (text: string): string[] {
  const content = contentStems(text)
  const terms = new Set(content.length > 0 ? content : words(text))
  addQueryAlternatives(text, content, terms)
  return [...terms]
}
