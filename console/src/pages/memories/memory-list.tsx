import { Component } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { SafeText } from '../../components/safe-text.js'
import { Said } from '../../components/said.js'
import { StateBadge } from '../../components/state-badge.js'
import { EmptyState, Failure, Loading } from '../../components/states.js'
import { VirtualList } from '../../components/virtual-list.js'
import { formatNumber } from '../../text/format.js'
import type { Preview } from './previews.js'
import type { MemoryRows } from './use-memory-rows.js'

interface Props {
  label: string
  rows: MemoryRows
  onChoose: (id: string) => void
  /** The memory that is open. */
  selected?: string | undefined
  isFiltered?: boolean
}

/** A list of memories, which can be scrolled to any position. */
export function MemoryList ({ label, rows, onChoose, selected, isFiltered = false }: Props) {
  const { count, isComplete, at, requestRow, error, isLoading, retry } = rows
  const [openIndex, setOpenIndex] = useState<number | undefined>(undefined)
  const isOpenInPlace = openIndex !== undefined && selected !== undefined && at(openIndex)?.id === selected
  return (
    <>
      {error !== undefined && <Failure error={error} retry={retry} />}
      {isLoading && <Loading label='Loading memories' />}
      {count === 0 && (isFiltered
        ? <EmptyState title='No memory passes the filters.'><p>Remove a filter.</p></EmptyState>
        : <EmptyState title='The bank has no memories.'><p>“Retain” stores the first one.</p></EmptyState>)}
      {count !== undefined && count > 0 && (
        <>
          {!isComplete &&
            <p class='notice'>
              Only the first {formatNumber(count)} are listed; use filters or the other order to see the rest.
            </p>}
          <VirtualList
            label={label} count={count} {...(isOpenInPlace && { selected: openIndex })}
            row={(index) => (
              <Row index={index} preview={at(index)} requestRow={requestRow} isOpen={at(index)?.id === selected} />
            )}
            onChoose={(index) => {
              const preview = at(index)
              if (preview === undefined || preview === null) return
              setOpenIndex(index)
              onChoose(preview.id)
            }}
          />
        </>
      )}
    </>
  )
}

function Row (
  { index, preview, requestRow, isOpen }:
  { index: number, preview: Preview | null | undefined, requestRow: (index: number) => void, isOpen: boolean },
) {
  const isMissing = preview === undefined
  useEffect(() => { if (isMissing) requestRow(index) })
  if (preview === undefined) return <span class='memories-waiting'>Loading…</span>
  if (preview === null) return <span class='memories-waiting'>No longer there. “Reload” updates the list.</span>
  return <PreviewRow preview={preview} isOpen={isOpen} />
}

interface PreviewProps { preview: Preview, isOpen: boolean }

/** Rerendered only for another memory, because a scrolling list renders all of its rows each time. */
export class PreviewRow extends Component<PreviewProps> {
  override shouldComponentUpdate ({ preview, isOpen }: PreviewProps): boolean {
    return preview !== this.props.preview || isOpen !== this.props.isOpen
  }

  override render () {
    const { preview: { text, isTruncated, tags, said, trust, past, document }, isOpen } = this.props
    return (
      <div class={isOpen ? 'memories-row open' : 'memories-row'}>
        <p class='memories-facts'>
          <Said memory={said} />
          {past !== undefined && <StateBadge memory={past} />}
          <TrustBadge trust={trust} />
        </p>
        <p class='memories-text'>
          <SafeText
            text={text === '' ? '(empty)' : text.replaceAll(/\s*\n\s*/g, ' ')}
            isExpandable={false}
          />{isTruncated && '…'}
        </p>
        {(document !== null || tags.length > 0) && (
          <p class='memories-facts'>
            {document !== null && (
              <span class='memories-document'><SafeText text={document} isExpandable={false} truncateAt={40} /></span>
            )}
            {tags.map((tag) => (
              <span key={tag} class='tag'><SafeText text={tag} isExpandable={false} truncateAt={30} /></span>
            ))}
          </p>
        )}
      </div>
    )
  }
}

/** A badge with the trust of a memory, if it is not `trusted`. */
export function TrustBadge ({ trust }: { trust: Preview['trust'] }) {
  if (trust === 'trusted') return null
  return <span class={`badge ${trust === 'suspect' ? 'danger' : 'warning'}`}>{trust}</span>
}
