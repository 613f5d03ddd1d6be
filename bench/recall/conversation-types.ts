/** What one side said at once. */
export interface Turn {
  /** Unique within the conversation. */
  id: string
  /** What is retained, a memory each: one, unless the text is too long for that. */
  contents: readonly string[]
  /** Who said it, where the content does not: `metadata.speaker`. */
  role: string | undefined
  /** Milliseconds since the epoch; undefined for isolated facts, which have no time. */
  occurredAt: number | undefined
}

export interface Session {
  /** The document of its turns; of an isolated fact, the fact's own id. */
  id: string
  turns: Turn[]
}

export interface Question {
  /** Place in the data's list, from 0. */
  index: number
  text: string
  category: string
  /** Ids of turns that there are, at least one. */
  evidence: readonly string[]
  /** Ids of the sessions that are wanted; none for isolated facts. */
  sessions: readonly string[]
  /** When it is asked, where the data say so: what `two weeks ago` is counted from. */
  askedAt: number | undefined
}

/** What a bank of its own is made of. */
export interface Conversation {
  id: string
  form: 'talk' | 'facts' | 'longmemeval' | 'beam'
  /** Hits that are asked for: the deepest rank that any figure looks at. */
  depth: number
  sessions: Session[]
  questions: Question[]
}
