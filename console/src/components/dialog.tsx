import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { credentials } from '../state/session.js'

interface Props {
  title: string
  isOpen: boolean
  /** Whether it is shown even while nobody is signed in. Default false. */
  isShownSignedOut?: boolean
  onClose: () => void
  children: ComponentChildren
}

/** What gets the focus when a dialog opens: a field, or the button of a question that changes nothing. */
const FIRST_STOP = ':is(input, select, textarea):enabled, [data-first-stop]'

/** Left to itself, the browser gives the focus to the button that closes the dialog. */
function show (dialog: HTMLDialogElement): void {
  dialog.showModal()
  const first = dialog.querySelector<HTMLElement>(FIRST_STOP) ?? dialog.querySelector<HTMLElement>('h2')
  first?.focus()
}

/**
 * A modal dialog. The browser keeps the focus within it and gives the focus back. While the user signs in again it is
 * hidden by default, and keeps its content.
 */
export function Dialog ({ title, isOpen, isShownSignedOut = false, onClose, children }: Props) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  const isShown = isOpen && (isShownSignedOut || credentials.value !== undefined)
  // Runs before other effects, which can move the focus only once the dialog is closed.
  useLayoutEffect(() => {
    const { current } = element
    if (current === null) return
    if (isShown && !current.open) show(current)
    if (!isShown && current.open) current.close()
  }, [isShown])
  return (
    <dialog
      ref={element}
      aria-labelledby={id}
      // Left to itself, Chromium closes a dialog on a second Escape without asking, and the one below with it.
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.isComposing) return
        event.preventDefault()
        if (!event.repeat) onClose()
      }}
      // Ways to close it without a key. The event of closing comes later, when the dialog may be open again.
      onCancel={(event) => {
        // The choice of a file can be cancelled, too.
        if (event.target !== event.currentTarget) return
        event.preventDefault()
        onClose()
      }}
      onClose={() => {
        // The browser has closed it without asking. Its owner decides whether it stays closed.
        if (!isShown || element.current?.open !== false) return
        show(element.current)
        onClose()
      }}
    >
      {isOpen && (
        <>
          <header class='dialog-head'>
            <h2 id={id} tabIndex={-1}>{title}</h2>
            <button type='button' class='small' aria-label='Close' onClick={onClose}>✕</button>
          </header>
          {children}
        </>
      )}
    </dialog>
  )
}

interface ConfirmProps extends Props {
  /** The text that must be typed before the action can be confirmed; absent: none. */
  expected?: string
  action: string
  /** The label of the button that closes the dialog. Default: Cancel. */
  cancel?: string
  isBusy?: boolean
  /** Whether the effect of the action is known yet. Default true. */
  isReady?: boolean
  onConfirm: () => void
}

/** Asks for confirmation of an action that cannot be undone. */
export function ConfirmDialog (
  {
    expected, action, cancel = 'Cancel', isBusy = false, isReady = true, onConfirm, children, ...dialog
  }: ConfirmProps,
) {
  const [typed, setTyped] = useState('')
  const id = useId()
  useEffect(() => { setTyped('') }, [dialog.isOpen])
  const canConfirm = isReady && (expected === undefined || typed === expected)
  return (
    <Dialog {...dialog}>
      <form onSubmit={(event) => {
        event.preventDefault()
        if (canConfirm && !isBusy) onConfirm()
      }}
      >
        {children}
        {expected !== undefined && (
          <div class='field'>
            <label for={id}>Type <code>{expected}</code> to confirm</label>
            <input
              id={id}
              value={typed}
              autocomplete='off'
              spellcheck={false}
              onInput={({ currentTarget }) => { setTyped(currentTarget.value) }}
            />
          </div>
        )}
        <div class='actions'>
          <button
            type='submit'
            class='danger'
            disabled={!canConfirm}
            aria-disabled={isBusy}
          >
            {isBusy ? 'Working…' : action}
          </button>
          <button type='button' data-first-stop onClick={dialog.onClose}>{cancel}</button>
        </div>
      </form>
    </Dialog>
  )
}
