import { createContext, type ComponentChildren } from 'preact'
import { useContext, useLayoutEffect, useState } from 'preact/hooks'
import { askToDiscard } from '../state/question.js'
import { Dialog } from './dialog.js'
import { useLeaveGuard } from './question-dialog.js'

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
  const isUnsaved = unsavedCount > 0
  const texts = { title: question, loss, discard, keep }
  useLeaveGuard(isUnsaved, texts, 'url', onClose)
  const close = () => {
    if (isUnsaved) askToDiscard(texts, onClose)
    else onClose()
  }
  return (
    <UnsavedInput.Provider value={changeCount}>
      <Dialog title={title} isOpen={isOpen} onClose={close}>{children(close)}</Dialog>
    </UnsavedInput.Provider>
  )
}
