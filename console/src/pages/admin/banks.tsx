import type { AdminBanksAnswer } from 'memory-gateway-client'
import { useState } from 'preact/hooks'
import { Field } from '../../components/field.js'
import { SafeText } from '../../components/safe-text.js'
import { Empty, Loadable } from '../../components/states.js'
import { Table } from '../../components/table.js'
import { Time } from '../../components/time.js'
import { hrefOf } from '../../state/router.js'
import { admin } from '../../state/session.js'
import { useLoad } from '../../state/use-load.js'
import { formatCount, formatNumber } from '../../text/format.js'
import { textPartsOf } from '../../text/visible-text.js'

type Row = AdminBanksAnswer['banks'][number]

/** The listing has no pages: rows are rendered a thousand at a time. */
const SHOWN = 1000

/** The banks of all tenants. */
export function AllBanks () {
  const loaded = useLoad(async (signal) => await admin.value.listBanks({}, { signal }), [])
  return (
    <section class='card' aria-labelledby='all-banks'>
      <div class='admin-head'>
        <h2 id='all-banks'>Banks of all tenants</h2>
        <button type='button' class='small' onClick={loaded.reload}>Load anew</button>
      </div>
      <Loadable loaded={loaded}>
        {({ banks }) => banks.length === 0
          ? <Empty title='There is no bank.'><p>A bank comes to life with its first memory.</p></Empty>
          : <Banks banks={banks} />}
      </Loadable>
    </section>
  )
}

function Banks ({ banks }: { banks: readonly Row[] }) {
  const [filter, setFilter] = useState('')
  const [tenant, setTenant] = useState('')
  const [shown, setShown] = useState(SHOWN)
  const wanted = filter.trim().toLowerCase()
  const tenants = [...new Set(banks.map(keyOfTenant))]
  const rows = banks.filter((row) => (
    row.bank_id.toLowerCase().includes(wanted) && (tenant === '' || keyOfTenant(row) === tenant)))
  const memories = rows.reduce((sum, { memory_count: count }) => sum + count, 0)
  return (
    <>
      <div class='admin-bar'>
        <Field label='Id contains'>
          {(attributes) => (
            <input
              {...attributes} type='search' autocomplete='off' spellcheck={false} value={filter}
              onInput={({ currentTarget }) => { setFilter(currentTarget.value) }}
            />
          )}
        </Field>
        {tenants.length > 1 && (
          <Field label='Tenant'>
            {(attributes) => (
              <select
                {...attributes} value={tenant}
                onChange={({ currentTarget }) => { setTenant(currentTarget.value) }}
              >
                <option value=''>all</option>
                {tenants.map((key) => <option key={key} value={key}>{key === NO_TENANT ? 'none' : plainly(key.slice(1))}</option>)}
              </select>
            )}
          </Field>
        )}
        <p role='status'>{formatCount(rows.length, 'bank')} with {formatCount(memories, 'memory', 'memories')}</p>
      </div>
      <Table
        caption='All banks' rows={rows.slice(0, shown)}
        keyOf={(row) => `${keyOfTenant(row)} ${row.bank_id}`} columns={[
          { title: 'Bank', isHeader: true, cell: ({ bank_id: id }) => <SafeText text={id} isExpandable={false} /> },
          {
            title: 'Tenant',
            cell: ({ tenant_id: id }) => id === null ? <em>none</em> : <SafeText text={id} isExpandable={false} />,
          },
          { title: 'Memories', isNumber: true, cell: ({ memory_count: count }) => formatNumber(count) },
          { title: 'Last retained', cell: ({ last_retained_at: at }) => <Time at={at} /> },
          {
            title: 'Look at',
            cell: ({ bank_id: bank, tenant_id: id }) => (
              <a href={hrefOf('admin', { bank, tenant: id })} aria-label={`Configuration of ${bank}`}>Configuration</a>
            ),
          },
        ]}
      />
      {rows.length > shown && (
        <div class='actions'>
          <button type='button' onClick={() => { setShown(shown + SHOWN) }}>Show more</button>
        </div>
      )}
    </>
  )
}

/** Different from every key of a tenant, which begins with `+`. */
const NO_TENANT = '-'

/** An option cannot contain markup, so hidden characters are named in brackets. */
function plainly (text: string): string {
  return textPartsOf(text).map((part) => typeof part === 'string' ? part : `[${part.label}]`).join('')
}

function keyOfTenant ({ tenant_id: id }: Row): string {
  return id === null ? NO_TENANT : `+${id}`
}
