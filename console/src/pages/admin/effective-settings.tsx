import type { BankConfigAnswer } from 'memory-gateway-client'
import { useState } from 'preact/hooks'
import { Field } from '../../components/field.js'
import { SafeText } from '../../components/safe-text.js'
import { Table } from '../../components/table.js'
import { formatCount } from '../../text/format.js'
import { valueAt } from '../../text/value-at.js'

const ORIGIN_BADGES: Readonly<Record<string, string>> = { bank: 'warning', profile: 'good', file: 'good', default: '' }
const ORIGINS = ['bank', 'profile', 'file', 'default'] as const

/** The settings in force for the bank, each with its origin. */
export function EffectiveSettings ({ answer: { effective, origin } }: { answer: BankConfigAnswer }) {
  const [filter, setFilter] = useState('')
  const [originFilter, setOriginFilter] = useState('')
  const searchText = filter.trim().toLowerCase()
  const rows = Object.entries(origin)
    .map(([path, source]) => ({ path, source, value: valueAt(effective, path) }))
    .filter(({ path, source }) => (
      path.toLowerCase().includes(searchText) && (originFilter === '' || source === originFilter)
    ))
    .sort((a, b) => a.path < b.path ? -1 : 1)
  return (
    <section class='card' aria-labelledby='effective'>
      <h3 id='effective'>Effective settings</h3>
      <div class='admin-bar'>
        <Field label='Name contains'>
          {(attributes) => (
            <input
              {...attributes} type='search' autocomplete='off' spellcheck={false} value={filter}
              onInput={({ currentTarget }) => { setFilter(currentTarget.value) }}
            />
          )}
        </Field>
        <Field label='Origin'>
          {(attributes) => (
            <select
              {...attributes} value={originFilter}
              onChange={({ currentTarget }) => { setOriginFilter(currentTarget.value) }}
            >
              <option value=''>any origin</option>
              {ORIGINS.map((name) => <option key={name} value={name}>{name}</option>)}
            </select>
          )}
        </Field>
        <p role='status'>{formatCount(rows.length, 'value')}</p>
      </div>
      <Table
        caption='Effective values' rows={rows} keyOf={({ path }) => path} columns={[
          {
            title: 'Name',
            isHeader: true,
            cell: ({ path }) => <code><SafeText text={path} isExpandable={false} /></code>,
          },
          {
            title: 'Value',
            cell: ({ value }) => value === undefined
              ? <em>none</em>
              : <code><SafeText text={JSON.stringify(value)} truncateAt={200} /></code>,
          },
          {
            title: 'Origin', cell: ({ source }) => <span class={`badge ${ORIGIN_BADGES[source] ?? ''}`}>{source}</span>,
          },
        ]}
      />
    </section>
  )
}
