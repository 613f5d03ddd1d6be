import { formatUtc } from '../text/format.js'
import { toLocalInput, fromLocalInput } from '../text/local-time.js'
import { Field } from './field.js'

interface Props {
  label: string
  /** RFC 3339; empty: none. */
  value: string
  onChange: (instant: string) => void
  hint?: string
}

/** A field for an instant in the user's time zone; its value has the offset of that zone. */
export function DateTimeField ({ label, value, onChange, hint }: Props) {
  return (
    <Field label={label} hint={value === '' ? hint : `= ${formatUtc(value)}`}>
      {(attributes) => (
        <input
          {...attributes} type='datetime-local' step={1} value={toLocalInput(value)}
          onChange={({ currentTarget }) => { onChange(fromLocalInput(currentTarget.value)) }}
        />
      )}
    </Field>
  )
}
