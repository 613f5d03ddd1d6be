import { useState } from 'preact/hooks'
import { Field } from '../../components/field.js'
import { TypedInput } from '../../components/typed-input.js'
import { InstantField } from '../../components/instant-field.js'
import { TagsField } from '../../components/tags-field.js'
import { readMetadata, type Metadata } from '../../text/metadata.js'
import { applyFilters, countFilters, NO_FILTERS, TRUSTS, type Filters } from './filters.js'

interface Props {
  filters: Filters
  metadata: Metadata | undefined
  onMetadata: (metadata: Metadata | undefined) => void
}

/** All filters of a listing. The URL has all of them except those by metadata. */
export function FilterForm ({ filters, metadata, onMetadata }: Props) {
  const [metadataText, setMetadataText] = useState(metadata === undefined ? '' : JSON.stringify(metadata))
  const read = readMetadata(metadataText)
  const count = countFilters(filters, metadata)
  const clear = () => {
    setMetadataText('')
    onMetadata(undefined)
    applyFilters({ ...NO_FILTERS, order: filters.order })
  }
  const instant = (name: 'occurredAfter' | 'occurredBefore' | 'retainedAfter' | 'retainedBefore', label: string, hint: string) => (
    <InstantField label={label} hint={hint} value={filters[name]} onChange={(at) => { applyFilters({ [name]: at }) }} />
  )
  const trust = (name: 'minTrust' | 'trust', label: string) => (
    <Field label={label}>
      {(attributes) => (
        <select
          {...attributes} value={filters[name]}
          onChange={({ currentTarget: { value } }) => { applyFilters({ [name]: TRUSTS.find((one) => one === value) ?? '' }) }}
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
        <TagsField label='Tags' tags={filters.tags} onChange={(tags) => { applyFilters({ tags }) }} />
        <Field label='Tags match'>
          {(attributes) => (
            <select
              {...attributes} value={filters.tagsMatch}
              onChange={({ currentTarget }) => { applyFilters({ tagsMatch: currentTarget.value === 'all' ? 'all' : 'any' }) }}
            >
              <option value='any'>any of them</option>
              <option value='all'>all of them</option>
            </select>
          )}
        </Field>
        <Field label='Document' hint='Its exact id.'>
          {(attributes) => (
            <TypedInput
              {...attributes} value={filters.documentId} maxLength={512}
              onChange={(documentId) => { applyFilters({ documentId }) }}
            />
          )}
        </Field>
        <Field label='Metadata' hint='A flat JSON object; not kept in the address.' error={read.error}>
          {(attributes) => (
            <input
              {...attributes} value={metadataText} placeholder='{"kind": "note"}' autocomplete='off' spellcheck={false}
              onInput={({ currentTarget }) => { setMetadataText(currentTarget.value) }}
              onChange={({ currentTarget }) => {
                const { value, error } = readMetadata(currentTarget.value)
                if (error === undefined) onMetadata(value)
              }}
            />
          )}
        </Field>
        {instant('occurredAfter', 'Occurred from', 'In your zone; inclusive.')}
        {instant('occurredBefore', 'Occurred before', 'In your zone; exclusive.')}
        {instant('retainedAfter', 'Retained from', 'In your zone; inclusive.')}
        {instant('retainedBefore', 'Retained before', 'In your zone; exclusive.')}
        {trust('minTrust', 'Trust at least')}
        {trust('trust', 'Trust exactly')}
      </div>
      <div class='actions'>
        <button type='button' disabled={count === 0} onClick={clear}>Take all filters away</button>
      </div>
    </details>
  )
}
