import type { AdminBanksAnswer } from 'memory-gateway-client'
import { useState } from 'preact/hooks'
import { Field } from '../../components/field.js'
import { SafeText } from '../../components/safe-text.js'
import { EmptyState, Loadable } from '../../components/states.js'
import { Table } from '../../components/table.js'
import { Time } from '../../components/time.js'
import { hrefOf } from '../../state/router.js'
import { admin } from '../../state/session.js'
import { useLoad } from '../../state/use-load.js'
import { describeShown, formatCount, formatNumber } from '../../text/format.js'
import { textPartsOf } from '../../text/visible-text.js'

type Row = AdminBanksAnswer['banks'][number]

/** The server returns all banks in one answer; this many rows are rendered at a time. */
const ROWS_PER_STEP = 1000

/** The banks of all tenants. */
export function TenantBanks () {
  const loaded = useLoad(async (signal) => await admin.value.listBanks({}, { signal }), [])
  return (
    <section class='card' aria-labelledby='all-banks'>
      <div class='admin-head'>
        <h2 id='all-banks'>Banks of all tenants</h2>
        <button type='button' class='small' onClick={loaded.reload}>Reload</button>
      </div>
      <Loadable loaded={loaded}>
        {({ banks }) => banks.length === 0
          ? <EmptyState title='There is no bank.'><p>A bank is created with its first memory.</p></EmptyState>
          : <BankTable banks={banks} />}
      </Loadable>
    </section>
  )
}

function BankTable ({ banks }: { banks: readonly Row[] }) {
  const [filter, setFilter] = useState('')
  const [tenant, setTenant] = useState('')
  const [rowLimit, setRowLimit] = useState(ROWS_PER_STEP)
  const searchText = filter.trim().toLowerCase()
  const tenants = [...new Set(banks.map(tenantKey))]
  const rows = banks.filter((row) => (
    row.bank_id.toLowerCase().includes(searchText) && (tenant === '' || tenantKey(row) === tenant)))
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
                {tenants.map((key) => (
                  <option key={key} value={key}>{key === NO_TENANT ? 'none' : plainText(key.slice(1))}</option>
                ))}
              </select>
            )}
          </Field>
        )}
        <p role='status'>
          {describeShown(
            rows.length, `${formatCount(rows.length, 'bank')} with ${formatCount(memories, 'memory', 'memories')}`)}
        </p>
      </div>
      <Table
        caption='All banks' rows={rows.slice(0, rowLimit)}
        keyOf={(row) => `${tenantKey(row)} ${row.bank_id}`} columns={[
          { title: 'Bank', isHeader: true, cell: ({ bank_id: id }) => <SafeText text={id} isExpandable={false} /> },
          {
            title: 'Tenant',
            cell: ({ tenant_id: id }) => id === null ? <em>none</em> : <SafeText text={id} isExpandable={false} />,
          },
          { title: 'Memories', isNumber: true, cell: ({ memory_count: count }) => formatNumber(count) },
          { title: 'Last retained', cell: ({ last_retained_at: at }) => <Time at={at} /> },
          {
            title: 'Links',
            cell: ({ bank_id: bank, tenant_id: id }) => (
              <a href={hrefOf('admin', { bank, tenant: id })} aria-label={`Configuration of ${bank}`}>Configuration</a>
            ),
          },
        ]}
      />
      {rows.length > rowLimit && (
        <div class='actions'>
          <button type='button' onClick={() => { setRowLimit(rowLimit + ROWS_PER_STEP) }}>Show more</button>
        </div>
      )}
    </>
  )
}

/** Different from every key of a tenant, which begins with `+`. */
const NO_TENANT = '-'

/** The text of an option, which cannot contain markup: hidden characters are named in brackets. */
function plainText (text: string): string {
  return textPartsOf(text).map((part) => typeof part === 'string' ? part : `[${part.label}]`).join('')
}

function tenantKey ({ tenant_id: id }: Row): string {
  return id === null ? NO_TENANT : `+${id}`
}
