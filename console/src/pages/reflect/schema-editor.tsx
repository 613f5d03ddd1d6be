import { useId } from 'preact/hooks'
import { EXAMPLE_SCHEMA, parsedSchema } from './request.js'

interface Props {
  value: string
  onChange: (text: string) => void
}

/** A text field for a JSON Schema. Only whether it is a JSON object is checked here, the rest by the gateway. */
export function SchemaEditor ({ value, onChange }: Props) {
  const id = useId()
  const schema = parsedSchema(value)
  return (
    <div class='field'>
      <label for={id}>JSON Schema of the object</label>
      <textarea
        id={id} class='reflect-schema' rows={10} spellcheck={false} autocomplete='off' value={value}
        aria-invalid={schema === undefined} aria-describedby={`${id}-state`}
        onInput={({ currentTarget }) => { onChange(currentTarget.value) }}
      />
      <div id={`${id}-state`} role='status'>
        {schema === undefined && <p class='field-error'>The schema is not a JSON object.</p>}
      </div>
      <div class='actions'>
        <button
          type='button' class='small' disabled={schema === undefined}
          onClick={() => { onChange(JSON.stringify(schema, null, 2)) }}
        >
          Format
        </button>
        <button type='button' class='small' onClick={() => { onChange(EXAMPLE_SCHEMA) }}>Insert the example</button>
      </div>
    </div>
  )
}
