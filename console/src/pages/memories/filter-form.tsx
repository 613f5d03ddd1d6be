import { useState } from 'preact/hooks'
import { Field } from '../../components/field.js'
import { DraftInput } from '../../components/draft-input.js'
import { DateTimeField } from '../../components/date-time-field.js'
import { TagsField } from '../../components/tags-field.js'
import { parseMetadata, type Metadata } from '../../text/metadata.js'
import { applyFilters, countFilters, NO_FILTERS, TRUSTS, type Filters } from './filters.js'

interface Props {
  filters: Filters
  metadata: Metadata | undefined
  onMetadata: (metadata: Metadata | undefined) => void
}

/** The form for all filters of a listing. The URL contains all of them except the filter by metadata. */
export function FilterForm ({ filters, metadata, onMetadata }: Props) {
  const [metadataText, setMetadataText] = useState(metadata === undefined ? '' : JSON.stringify(metadata))
  const parsed = parseMetadata(metadataText)
  const count = countFilters(filters, metadata)
  const clear = () => {
    setMetadataText('')
    onMetadata(undefined)
    applyFilters({ ...NO_FILTERS, order: filters.order })
  }
  const timeField = (
    name: 'occurredAfter' | 'occurredBefore' | 'retainedAfter' | 'retainedBefore', label: string, hint: string,
  ) => (
    <DateTimeField
      label={label} hint={hint} value={filters[name]} onChange={(at) => { applyFilters({ [name]: at }) }}
    />
  )
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
        <TagsField
          label='Speakers' hint='Who said it. Press Enter to add a name.' tags={filters.speakers}
          onChange={(speakers) => { applyFilters({ speakers }) }}
        />
        <TagsField label='Tags' tags={filters.tags} onChange={(tags) => { applyFilters({ tags }) }} />
        <Field label='Tags match'>
          {(attributes) => (
            <select
              {...attributes} value={filters.tagsMatch}
              onChange={({ currentTarget }) => {
                applyFilters({
                  tagsMatch: currentTarget.value === 'all' ? 'all' : 'any',
                })
              }}
            >
              <option value='any'>any of them</option>
              <option value='all'>all of them</option>
            </select>
          )}
        </Field>
        <Field label='Document' hint='The exact id.'>
          {(attributes) => (
            <DraftInput
              {...attributes} value={filters.documentId}
              onChange={(documentId) => { applyFilters({ documentId }) }}
            />
          )}
        </Field>
        <Field label='Metadata' hint='A flat JSON object; not kept in the URL.' error={parsed.error}>
          {(attributes) => (
            <input
              {...attributes} value={metadataText} placeholder='{"kind": "note"}' autocomplete='off' spellcheck={false}
              onInput={({ currentTarget }) => { setMetadataText(currentTarget.value) }}
              onChange={({ currentTarget }) => {
                const { value, error } = parseMetadata(currentTarget.value)
                if (error === undefined) onMetadata(value)
              }}
            />
          )}
        </Field>
        {timeField('occurredAfter', 'Occurred from', 'In your time zone; inclusive.')}
        {timeField('occurredBefore', 'Occurred before', 'In your time zone; exclusive.')}
        {timeField('retainedAfter', 'Retained from', 'In your time zone; inclusive.')}
        {timeField('retainedBefore', 'Retained before', 'In your time zone; exclusive.')}
        {trustSelect('minTrust', 'Minimum trust')}
        {trustSelect('trust', 'Exact trust')}
      </div>
      <div class='actions'>
        <button type='button' disabled={count === 0} onClick={clear}>Clear all filters</button>
      </div>
    </details>
  )
}
