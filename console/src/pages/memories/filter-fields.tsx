import { useState } from 'preact/hooks'
import { DateTimeField } from '../../components/date-time-field.js'
import { DraftInput } from '../../components/draft-input.js'
import { Field } from '../../components/field.js'
import { TagsField } from '../../components/tags-field.js'
import { parseMetadata, type Metadata } from '../../text/metadata.js'
import type { Filters } from './filters.js'

interface Props {
  filters: Filters
  metadata: Metadata | undefined
  metadataHint: string
  onChange: (changes: Partial<Filters>) => void
  onMetadata: (metadata: Metadata | undefined) => void
}

/** The fields of the filters that a list and a forget share. */
export function FilterFields ({ filters, metadata, metadataHint, onChange, onMetadata }: Props) {
  const [metadataText, setMetadataText] = useState(metadata === undefined ? '' : JSON.stringify(metadata))
  const parsed = parseMetadata(metadataText)
  const timeField = (
    name: 'occurredAfter' | 'occurredBefore' | 'retainedAfter' | 'retainedBefore', label: string, hint: string,
  ) => (
    <DateTimeField label={label} hint={hint} value={filters[name]} onChange={(at) => { onChange({ [name]: at }) }} />
  )
  return (
    <>
      <TagsField
        label='Speakers' hint='Who said it. Press Enter to add a name.' tags={filters.speakers}
        onChange={(speakers) => { onChange({ speakers }) }}
      />
      <TagsField label='Tags' tags={filters.tags} onChange={(tags) => { onChange({ tags }) }} />
      <Field label='Tags match'>
        {(attributes) => (
          <select
            {...attributes} value={filters.tagsMatch}
            onChange={({ currentTarget }) => { onChange({ tagsMatch: currentTarget.value === 'all' ? 'all' : 'any' }) }}
          >
            <option value='any'>any of them</option>
            <option value='all'>all of them</option>
          </select>
        )}
      </Field>
      <Field label='Document' hint='The exact id.'>
        {(attributes) => (
          <DraftInput
            {...attributes} value={filters.documentId} onChange={(documentId) => { onChange({ documentId }) }}
          />
        )}
      </Field>
      <Field label='Metadata' hint={metadataHint} error={parsed.error}>
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
    </>
  )
}
