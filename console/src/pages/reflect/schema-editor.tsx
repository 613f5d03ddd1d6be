import { useId } from 'preact/hooks'
import { SafeText } from '../../components/safe-text.js'
import { checkSchemaText } from './schema-check.js'
import { EXAMPLE_SCHEMA } from './request.js'

interface Props {
  value: string
  onChange: (text: string) => void
}

/** A text field for a JSON Schema, with the errors because of which the gateway would refuse it. */
export function SchemaEditor ({ value, onChange }: Props) {
  const id = useId()
  const { schema, problems } = checkSchemaText(value)
  return (
    <div class='field'>
      <label for={id}>JSON Schema of the object</label>
      <textarea
        id={id} class='reflect-schema' rows={10} spellcheck={false} autocomplete='off' value={value}
        aria-invalid={problems.length > 0} aria-describedby={`${id}-state`}
        onInput={({ currentTarget }) => { onChange(currentTarget.value) }}
      />
      <div id={`${id}-state`} role='status'>
        {problems.length === 0
          ? <p class='hint'>The schema is valid.</p>
          : (
            <ul class='reflect-problems field-error'>
              {problems.map(({ path, message }) => (
                <li key={`${path} ${message}`}>{path !== '' &&
                  <><code><SafeText text={path} isExpandable={false} /></code> </>}<SafeText text={message} />
                </li>
              ))}
            </ul>
            )}
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
