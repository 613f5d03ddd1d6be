import { useMemo } from 'preact/hooks'
import { Loadable, Empty } from '../../components/states.js'
import { VirtualList } from '../../components/virtual-list.js'
import { client } from '../../state/session.js'
import { useLoad } from '../../state/use-load.js'
import type { Metadata } from '../../text/metadata.js'
import { formatCount, formatNumber } from '../../text/format.js'
import { passesRest, searchRequest, type Filters } from './filters.js'
import { PreviewRow, rowHeight } from './memory-list.js'
import { previewOf } from './previews.js'

const MOST_HITS = 200

interface Props {
  bank: string
  query: string
  filters: Filters
  metadata: Metadata | undefined
  selected: string | undefined
  /** Counts what the reader has changed in the bank. */
  changes: number
  onChoose: (id: string) => void
}

/** The results of a full text search, by relevance. */
export function SearchResults ({ bank, query, filters, metadata, selected, changes, onChoose }: Props) {
  const height = useMemo(rowHeight, [])
  const found = useLoad(async (signal) => {
    const { hits, total_available: total } = await client.value.recall(
      searchRequest(bank, query, filters, metadata, MOST_HITS), { signal })
    return { previews: hits.filter((hit) => passesRest(hit, filters)).map(previewOf), hits: hits.length, total }
  }, [bank, query, JSON.stringify(filters), JSON.stringify(metadata), changes])
  return (
    <Loadable loaded={found} what='Searching'>
      {({ previews, hits, total }) => previews.length === 0
        ? <Empty title='No memory has these words.'><p>The search goes by words and their stems, not by meaning: the Recall lab has both.</p></Empty>
        : (
          <>
            <p role='status'>
              {formatCount(previews.length, 'memory', 'memories')}, the best first
              {hits >= MOST_HITS && `; the ${formatNumber(MOST_HITS)} best of ${formatNumber(total)} are looked at`}.
            </p>
            <VirtualList
              label='Memories found' count={previews.length} rowHeight={height} total={previews.length}
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
