import { useState } from 'preact/hooks'
import { announce } from '../state/announcer.js'

/** Copies a text to the clipboard. Pages without TLS have no clipboard, so the text beside it must be selectable. */
export function CopyButton ({ text, label = 'Copy', what = 'It' }: { text: string, label?: string, what?: string }) {
  const [state, setState] = useState('')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setState('Copied')
      announce(`${what} is copied`)
    } catch {
      setState('Not allowed')
      announce('The browser does not allow it')
    }
  }
  return <button type='button' class='small' onClick={() => { void copy() }} onBlur={() => { setState('') }}>{state === '' ? label : state}</button>
}
