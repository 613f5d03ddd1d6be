import { CitationFilter, type CitationOptions, type FilteredAnswer } from '../../lib/answering/citations.js'

/** Filters an answer in one piece. */
export function filterCitations (text: string, sources: number, options: CitationOptions = {}): FilteredAnswer {
  const filter = new CitationFilter(sources, options)
  const shown = filter.push(text)
  const last = filter.end()
  return { ...last, text: shown + last.text }
}
