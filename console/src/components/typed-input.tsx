import { useState } from 'preact/hooks'

interface Props {
  /** The attributes that Field passes. */
  id: string
  'aria-describedby': string
  'aria-invalid': boolean
  value: string
  list?: string
  maxLength?: number
  /** Called with the trimmed text when the reader leaves the field or presses Enter. */
  onChange: (value: string) => void
}

/**
 * A text field that reports its value only when it is complete. Until then it keeps what is typed, which another
 * rendering (when an answer arrives) would otherwise replace with the old value.
 */
export function TypedInput ({ value, onChange, ...attributes }: Props) {
  const [typed, setTyped] = useState<string | undefined>(undefined)
  return (
    <input
      {...attributes} type='text' value={typed ?? value} autocomplete='off' spellcheck={false}
      onInput={({ currentTarget }) => { setTyped(currentTarget.value) }}
      onChange={({ currentTarget }) => {
        setTyped(undefined)
        onChange(currentTarget.value.trim())
      }}
      onBlur={() => { setTyped(undefined) }}
    />
  )
}
