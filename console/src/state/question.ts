import { signal } from '@preact/signals'
import { credentials } from './session.js'

/** What the user is asked before something is lost. */
export interface Question {
  title: string
  /** What would be lost. */
  loss: string
  /** The label of the button that discards it, and that of the one that does not. */
  discard: string
  keep: string
}

/** The question that the user is asked now, and what follows if the user discards. */
export const openQuestion = signal<{ question: Question, onDiscard: () => void } | undefined>(undefined)

export function askToDiscard (question: Question, onDiscard: () => void): void {
  openQuestion.value = { question, onDiscard }
}

export function withdrawQuestion (): void {
  openQuestion.value = undefined
}

// A sign-in opens the hidden dialogs again, above a question that is still open, which then could not be answered.
credentials.subscribe(withdrawQuestion)
