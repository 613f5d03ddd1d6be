import { Loadable, EmptyState } from '../../components/states.js'
import { VirtualList } from '../../components/virtual-list.js'
import { client } from '../../state/session.js'
import { useLoad } from '../../state/use-load.js'
import type { Metadata } from '../../text/metadata.js'
import { formatCount, formatNumber } from '../../text/format.js'
import { countFilters, matchesRemainingFilters, searchRequest, type Filters } from './filters.js'
import { PreviewRow } from './memory-list.js'
import { previewOf } from './previews.js'

const MAX_HITS = 200

interface Props {
  bank: string
  query: string
  filters: Filters
  metadata: Metadata | undefined
  selected: string | undefined
  /** Increases with each change of the bank, after which the search is repeated. */
  changeCount: number
  onChoose: (id: string) => void
}

function emptyTitle (hits: number, total: number, isFiltered: boolean): string {
  if (hits < total) {
    const considered = `${formatNumber(hits)} best of ${formatNumber(total)}`
    return `None of the ${considered} memories with these words passes the filters.`
  }
  return isFiltered ? 'No memory with these words passes the filters.' : 'No memory has these words.'
}

/** The results of a full-text search, by relevance. */
export function SearchResults ({ bank, query, filters, metadata, selected, changeCount, onChoose }: Props) {
  const results = useLoad(async (signal) => {
    const { hits, total_available: total } = await client.value.recall(
      searchRequest(bank, query, filters, metadata, MAX_HITS), { signal })
    const previews = hits.filter((hit) => matchesRemainingFilters(hit, filters)).map(previewOf)
    return { previews, hits: hits.length, total }
  }, [bank, query, JSON.stringify(filters), JSON.stringify(metadata), changeCount])
  return (
    <Loadable loaded={results} label='Searching'>
      {({ previews, hits, total }) => previews.length === 0
        ? (
          <EmptyState title={emptyTitle(hits, total, countFilters(filters, metadata) > 0)}>
            <p>The search uses words and their stems, not meaning; the Recall lab searches by both.</p>
          </EmptyState>
          )
        : (
          <>
            <p role='status'>
              {formatCount(previews.length, 'memory', 'memories')}, best first
              {hits < total && `; the ${formatNumber(hits)} best of ${formatNumber(total)} are considered`}.
            </p>
            <VirtualList
              label='Memories found' count={previews.length}
              selected={previews.findIndex(({ id }) => id === selected)}
              row={(index) => {
                const preview = previews[index]
                return preview === undefined ? null : <PreviewRow preview={preview} isOpen={preview.id === selected} />
              }}
              onChoose={(index) => {
                const preview = previews[index]
                if (preview !== undefined) onChoose(preview.id)
              }}
            />
          </>
          )}
    </Loadable>
  )
}
