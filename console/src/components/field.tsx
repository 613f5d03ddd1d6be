import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

interface Props {
  label: string
  hint?: ComponentChildren
  error?: string | undefined
  /** Renders the control, with the attributes that connect it with its label, hint and error. */
  children: (attributes: { id: string, 'aria-describedby': string, 'aria-invalid': boolean }) => ComponentChildren
}

/** A control with its label, a hint, and the error of its value. */
export function Field ({ label, hint, error, children }: Props) {
  const id = useId()
  return (
    <div class='field'>
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': `${id}-hint`, 'aria-invalid': error !== undefined })}
      <div id={`${id}-hint`} class='hint'>
        {error === undefined ? hint : <span class='field-error'>{error}</span>}
      </div>
    </div>
  )
}
