import { useEffect, useRef, useState } from 'preact/hooks'
import { Field } from './field.js'
import { useUnsavedInput } from './form-dialog.js'
import { SafeText } from './safe-text.js'
import './tags-field.css'

interface Props {
  label: string
  tags: readonly string[]
  onChange: (tags: string[]) => void
  hint?: string
}

/** Whether a pointer is pressed, so that a click is in progress. */
let isPressed = false
addEventListener('pointerdown', () => { isPressed = true }, true)
for (const end of ['pointerup', 'pointercancel']) addEventListener(end, () => { isPressed = false }, true)

/** A set of tags, entered one by one: pressing Enter or leaving the field adds the entered tag. */
export function TagsField ({ label, tags, onChange, hint = 'Press Enter to add a tag.' }: Props) {
  const [typed, setTyped] = useState('')
  useUnsavedInput(typed.trim() !== '')
  const input = useRef<HTMLInputElement>(null)
  // When a click elsewhere adds a tag, the tag is rendered after the click, so that the click's target does not move.
  const [isRenderDeferred, setIsRenderDeferred] = useState(false)
  useEffect(() => {
    if (!isRenderDeferred) return
    const renderTag = () => {
      setTimeout(() => {
        setIsRenderDeferred(false)
        setTyped('')
      })
    }
    const ends = ['pointerup', 'pointercancel']
    for (const end of ends) addEventListener(end, renderTag, true)
    return () => { for (const end of ends) removeEventListener(end, renderTag, true) }
  }, [isRenderDeferred])
  const visibleTags = isRenderDeferred ? tags.slice(0, -1) : tags
  const add = () => {
    const tag = typed.trim()
    const isNew = tag !== '' && !tags.includes(tag)
    if (isPressed && isNew) setIsRenderDeferred(true)
    else setTyped('')
    if (isNew) onChange([...tags, tag])
  }
  return (
    <div class='tags-field'>
      <Field label={label} hint={hint}>
        {(attributes) => (
          <input
            {...attributes} ref={input} value={typed} autocomplete='off' spellcheck={false}
            onInput={({ currentTarget }) => { setTyped(currentTarget.value) }} onBlur={add}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || typed.trim() === '') return
              event.preventDefault()
              add()
            }}
          />
        )}
      </Field>
      {visibleTags.length > 0 && (
        <ul class='tags-field-list' aria-label={`${label}: chosen`}>
          {visibleTags.map((tag) => (
            <li key={tag} class='tag'>
              <SafeText text={tag} isExpandable={false} truncateAt={60} />
              <button
                type='button' class='as-link' aria-label={`Remove ${tag}`}
                onClick={() => {
                  onChange(tags.filter((other) => other !== tag))
                  // The button disappears with its tag, so the focus needs another place.
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
