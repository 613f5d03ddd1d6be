import { createContext, type ComponentChildren } from 'preact'
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { askBeforeLeaving } from '../state/router.js'
import { credentials } from '../state/session.js'
import { ConfirmDialog, Dialog } from './dialog.js'

/** Counts the parts of the surrounding dialog whose input would be lost, or whose work would end. */
const UnsavedInput = createContext<((change: number) => void) | undefined>(undefined)

/** Reports to the surrounding dialog, if there is one, whether closing it would lose input or end running work. */
export function useUnsavedInput (isUnsaved: boolean): void {
  const changeCount = useContext(UnsavedInput)
  useLayoutEffect(() => {
    if (!isUnsaved || changeCount === undefined) return
    changeCount(1)
    return () => { changeCount(-1) }
  }, [isUnsaved, changeCount])
}

interface Props {
  title: string
  isOpen: boolean
  /** What the user is asked before input is discarded. */
  question: string
  /** The label of the button that discards it, that of the one that does not, and what would be lost. */
  discard?: string
  keep?: string
  loss?: string
  onClose: () => void
  /** The form, with a function that closes the dialog as Escape does. */
  children: (close: () => void) => ComponentChildren
}

/** A dialog with a form. It asks before it discards what the user has entered, or ends what the form has started. */
export function FormDialog (
  {
    title, isOpen, question, discard = 'Discard', keep = 'Keep editing',
    loss = 'What you have entered would be lost.', onClose, children,
  }: Props,
) {
  const [unsavedCount, setUnsavedCount] = useState(0)
  const [changeCount] = useState(() => (change: number) => { setUnsavedCount((count) => count + change) })
  const [isAsking, setIsAsking] = useState(false)
  /** Goes where Back or Forward should have led; absent: the dialog is closed, and the page stays. */
  const leave = useRef<(() => void) | undefined>(undefined)
  const isUnsaved = unsavedCount > 0
  const canAsk = isUnsaved && credentials.value !== undefined
  // The input may be stored while the question is open. A sign-in must not bring the question back below the form.
  useEffect(() => {
    if (!isUnsaved || credentials.value === undefined) setIsAsking(false)
  }, [isUnsaved, credentials.value])
  useLayoutEffect(() => {
    if (!canAsk) return
    return askBeforeLeaving((leavePage) => {
      leave.current = leavePage
      setIsAsking(true)
    })
  }, [canAsk])
  // Only the browser can ask before a tab is closed or loaded again, in words of its own.
  useLayoutEffect(() => {
    if (!isUnsaved) return
    const ask = (event: Event) => { event.preventDefault() }
    addEventListener('beforeunload', ask)
    return () => { removeEventListener('beforeunload', ask) }
  }, [isUnsaved])
  const close = () => {
    leave.current = undefined
    if (isUnsaved) setIsAsking(true)
    else onClose()
  }
  return (
    <UnsavedInput.Provider value={changeCount}>
      {/* It is closed before the form, because only then the focus can return to what opened the form. */}
      <ConfirmDialog
        title={question} isOpen={isAsking && isUnsaved} action={discard} cancel={keep}
        onConfirm={() => {
          setIsAsking(false)
          onClose()
          leave.current?.()
        }}
        onClose={() => { setIsAsking(false) }}
      >
        <p>{loss}</p>
      </ConfirmDialog>
      <Dialog title={title} isOpen={isOpen} onClose={close}>{children(close)}</Dialog>
    </UnsavedInput.Provider>
  )
}
