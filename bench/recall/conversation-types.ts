/** One message of one side. */
export interface Turn {
  /** Unique within the conversation. */
  id: string
  /** The contents to retain, one memory each: a single one, unless the text is too long for a memory. */
  contents: readonly string[]
  /** The speaker, unless the content states it. */
  role: string | undefined
  /** Where the contents state the speaker: the same without the name, and who it is. */
  apart?: { speaker: string, contents: readonly string[] }
  /** Milliseconds since the epoch; undefined for isolated facts, which have no time. */
  occurredAt: number | undefined
}

export interface Session {
  /** The document id of its turns; for an isolated fact, the fact's own id. */
  id: string
  turns: Turn[]
}

export interface Question {
  /** Index in the data's list, from 0. */
  index: number
  text: string
  category: string
  /** Ids of existing turns, at least one. */
  evidence: readonly string[]
  /** Ids of the sessions that are wanted; none for isolated facts. */
  sessions: readonly string[]
  /** The expected answer, if the data state it. */
  answer?: string | undefined
  /** When it is asked, if the data state it: the instant that `two weeks ago` is counted from. */
  askedAt: number | undefined
}

/** The contents of one bank, and the questions about them. */
export interface Conversation {
  id: string
  format: 'talk' | 'facts' | 'longmemeval' | 'beam'
  /** Whether each session is retained as a document. */
  hasDocuments: boolean
  /** Hits to request: the deepest rank that any figure uses. */
  depth: number
  sessions: Session[]
  questions: Question[]
}
