import { useRef, useState } from 'preact/hooks'
import { Field } from './field.js'
import { SafeText } from './safe-text.js'
import './tags-field.css'

interface Props {
  label: string
  tags: readonly string[]
  onChange: (tags: string[]) => void
  hint?: string
}

/** A set of tags, typed one by one: Enter adds what is typed, as leaving the field does. */
export function TagsField ({ label, tags, onChange, hint = 'Enter adds a tag.' }: Props) {
  const [typed, setTyped] = useState('')
  const input = useRef<HTMLInputElement>(null)
  const add = () => {
    const tag = typed.trim()
    setTyped('')
    if (tag !== '' && !tags.includes(tag)) onChange([...tags, tag])
  }
  return (
    <div class='tags-field'>
      <Field label={label} hint={hint}>
        {(attributes) => (
          <input
            {...attributes} ref={input} value={typed} maxLength={128} autocomplete='off' spellcheck={false}
            onInput={({ currentTarget }) => { setTyped(currentTarget.value) }} onBlur={add}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || typed.trim() === '') return
              event.preventDefault()
              add()
            }}
          />
        )}
      </Field>
      {tags.length > 0 && (
        <ul class='tags-field-list' aria-label={`${label}: chosen`}>
          {tags.map((tag) => (
            <li key={tag} class='tag'>
              <SafeText text={tag} isExpandable={false} shown={60} />
              <button
                type='button' class='as-link' aria-label={`Remove ${tag}`}
                onClick={() => {
                  onChange(tags.filter((one) => one !== tag))
                  // The button goes with its tag.
                  input.current?.focus()
                }}
              >✕
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
