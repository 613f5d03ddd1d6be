import { useState } from 'preact/hooks'
import { FilterFields } from './filter-fields.js'
import { applyFilters, countFilters, NO_FILTERS, TRUSTS, type Filters } from './filters.js'
import { DateTimeField } from '../../components/date-time-field.js'
import { Field } from '../../components/field.js'
import type { Metadata } from '../../text/metadata.js'

interface Props {
  filters: Filters
  metadata: Metadata | undefined
  onMetadata: (metadata: Metadata | undefined) => void
}

/** The form for all filters of a listing. The URL contains all of them except the filter by metadata. */
export function FilterForm ({ filters, metadata, onMetadata }: Props) {
  const [clearings, setClearings] = useState(0)
  const count = countFilters(filters, metadata)
  const clear = () => {
    setClearings((before) => before + 1)
    onMetadata(undefined)
    applyFilters({ ...NO_FILTERS, order: filters.order })
  }
  const trustSelect = (name: 'minTrust' | 'trust', label: string) => (
    <Field label={label}>
      {(attributes) => (
        <select
          {...attributes} value={filters[name]}
          onChange={({ currentTarget: { value } }) => {
            applyFilters({
              [name]: TRUSTS.find((one) => one === value) ?? '',
            })
          }}
        >
          <option value=''>any</option>
          {TRUSTS.map((level) => <option key={level} value={level}>{level}</option>)}
        </select>
      )}
    </Field>
  )
  return (
    <details class='card memories-filters'>
      <summary>Filters{count > 0 && ` (${count} set)`}</summary>
      <div class='fields'>
        <FilterFields
          key={clearings} filters={filters} metadata={metadata} metadataHint='A flat JSON object; not kept in the URL.'
          onChange={applyFilters} onMetadata={onMetadata}
        />
        <DateTimeField
          label='As of' hint='The bank as it was stored then.' value={filters.asOf}
          onChange={(asOf) => { applyFilters({ asOf }) }}
        />
        <DateTimeField
          label='Valid at' hint='What was so in the world then.' value={filters.validAt}
          onChange={(validAt) => { applyFilters({ validAt }) }}
        />
        {trustSelect('minTrust', 'Minimum trust')}
        {trustSelect('trust', 'Exact trust')}
      </div>
      <div class='actions'>
        <button type='button' disabled={count === 0} onClick={clear}>Clear all filters</button>
      </div>
    </details>
  )
}
