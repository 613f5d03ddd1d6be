import { useState } from 'preact/hooks'
import { announce } from '../state/announcer.js'

interface Props {
  text: string
  label?: string
  /** What is copied, in the announcement for screen readers. */
  subject?: string
}

/** Copies a text to the clipboard. Pages without TLS have no clipboard, so the text beside it must be selectable. */
export function CopyButton ({ text, label = 'Copy', subject = 'The text' }: Props) {
  const [state, setState] = useState('')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setState('Copied')
      announce(`${subject} is copied`)
    } catch {
      setState('Not allowed')
      announce('The browser does not allow copying')
    }
  }
  return (
    <button
      type='button'
      class='small'
      onClick={() => { void copy() }}
      onBlur={() => { setState('') }}
    >
      {state === '' ? label : state}
    </button>
  )
}
