import { useLayoutEffect } from 'preact/hooks'
import { askToDiscard, openQuestion, withdrawQuestion, type Question } from '../state/question.js'
import { askBeforeLeaving, type LeaveScope } from '../state/router.js'
import { ConfirmDialog } from './dialog.js'

/**
 * Asks the open question. It is closed before the dialog that it concerns, because only then the focus can return to
 * what opened that dialog: Preact updates this component first, because it is nearer to the root.
 */
export function QuestionDialog () {
  const open = openQuestion.value
  return (
    <ConfirmDialog
      title={open?.question.title ?? ''} isOpen={open !== undefined} isShownSignedOut
      action={open?.question.discard ?? ''} cancel={open?.question.keep ?? ''}
      onConfirm={() => {
        withdrawQuestion()
        open?.onDiscard()
      }}
      onClose={withdrawQuestion}
    >
      <p>{open?.question.loss}</p>
    </ConfirmDialog>
  )
}

/** While something would be lost, asks before a link, Back or Forward leaves, and before the tab closes or reloads. */
export function useLeaveGuard (
  isNeeded: boolean, question: Question, scope: LeaveScope, onDiscard: () => void = () => {},
): void {
  useLayoutEffect(() => {
    if (!isNeeded) return
    const stopAsking = askBeforeLeaving(scope, (leave) => {
      askToDiscard(question, () => {
        onDiscard()
        leave()
      })
    })
    // Only the browser can ask before a tab is closed or reloaded, in words of its own.
    const ask = (event: Event) => { event.preventDefault() }
    addEventListener('beforeunload', ask)
    return () => {
      stopAsking()
      removeEventListener('beforeunload', ask)
      // What the question concerns may be stored, or complete, while the question is open.
      withdrawQuestion()
    }
  }, [isNeeded])
}
