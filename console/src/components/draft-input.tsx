import { useState } from 'preact/hooks'

interface Props {
  /** The attributes that Field passes. */
  id: string
  'aria-describedby': string
  'aria-invalid': boolean
  value: string
  list?: string
  /** Called with the trimmed text when the user leaves the field or presses Enter. */
  onChange: (value: string) => void
}

/**
 * A text field that keeps its input as a draft and reports it when the user leaves the field or presses Enter. Without
 * the draft, a rendering in between (when an answer arrives) would replace the input with the old value.
 */
export function DraftInput ({ value, onChange, ...attributes }: Props) {
  const [draft, setDraft] = useState<string | undefined>(undefined)
  return (
    <input
      {...attributes} type='text' value={draft ?? value} autocomplete='off' spellcheck={false}
      onInput={({ currentTarget }) => { setDraft(currentTarget.value) }}
      onChange={({ currentTarget }) => {
        setDraft(undefined)
        onChange(currentTarget.value.trim())
      }}
      onBlur={() => { setDraft(undefined) }}
    />
  )
}
