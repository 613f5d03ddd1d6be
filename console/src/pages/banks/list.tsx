import { useState } from 'preact/hooks'
import { Field } from '../../components/field.js'
import { FirstCall } from '../../components/first-call.js'
import { SafeText } from '../../components/safe-text.js'
import { ListingEnd } from '../../components/states.js'
import { Table } from '../../components/table.js'
import { Time } from '../../components/time.js'
import { hrefOf } from '../../state/router.js'
import { client } from '../../state/session.js'
import { firstPage } from '../../state/first-page.js'
import { usePages } from '../../state/use-pages.js'
import { describeShown, formatCount, formatNumber } from '../../text/format.js'

const PAGE_SIZE = 100

/** The banks that the caller may read. */
export function BankList () {
  const [filter, setFilter] = useState('')
  const { items, error, isLoading, hasMore, loadMore, reload } = usePages(async (cursor, signal) => {
    const query = cursor === undefined ? { limit: PAGE_SIZE } : { limit: PAGE_SIZE, cursor }
    const { banks, next_cursor: next } = await firstPage(client.value.listBanks(query, { signal }))
    return { items: banks, cursor: next }
  }, [])
  const searchText = filter.trim().toLowerCase()
  const rows = items.filter(({ bank_id: id }) => id.toLowerCase().includes(searchText))
  const isEmpty = items.length === 0 && !hasMore && !isLoading && error === undefined
  return (
    <>
      {isEmpty && (
        <>
          <FirstCall title='There is no bank that you may read yet.' />
          <p>The <a href={hrefOf('access')}>Access</a> page shows what you may do.</p>
        </>
      )}
      {items.length > 0 && (
        <>
          <div class='banks-bar'>
            <Field label='Id contains' hint={hasMore ? 'Among the banks that are loaded.' : undefined}>
              {(attributes) => (
                <input
                  {...attributes} type='search' autocomplete='off' spellcheck={false} value={filter}
                  onInput={({ currentTarget }) => { setFilter(currentTarget.value) }}
                />
              )}
            </Field>
            <p role='status'>{describeShown(rows.length, formatCount(rows.length, 'bank'), hasMore)}</p>
            <button type='button' onClick={reload}>Reload</button>
          </div>
          <Table
            caption='Banks' rows={rows} keyOf={({ bank_id: id }) => id} columns={[
              {
                title: 'Bank',
                isHeader: true,
                cell: ({ bank_id: id }) => (
                  <a href={hrefOf('banks', { bank: id })}><SafeText text={id} isExpandable={false} /></a>
                ),
              },
              { title: 'Memories', isNumber: true, cell: ({ memory_count: count }) => formatNumber(count) },
              { title: 'Last retained', cell: ({ last_retained_at: at }) => <Time at={at} /> },
              {
                title: 'Links',
                cell: ({ bank_id: id }) => (
                  <span class='banks-links'>
                    <a href={hrefOf('memories', { bank: id })} aria-label={`Memories of ${id}`}>Memories</a>
                    <a href={hrefOf('recall', { bank: id })} aria-label={`Recall lab with ${id}`}>Recall lab</a>
                  </span>
                ),
              },
            ]}
          />
        </>
      )}
      <ListingEnd error={error} isLoading={isLoading} hasMore={hasMore} loadMore={loadMore} />
    </>
  )
}
