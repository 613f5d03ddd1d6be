/** A memory, as little of it as tells memories apart. Instants are RFC 3339. */
export interface Known {
  id: string
  text: string
  tags: string[]
  documentId: string | null
  occurredAt: string | null
  retainedAt: string
  expiresAt: string | null
}

export type Draft = Omit<Known, 'id' | 'retainedAt'>

/** One bank, the naive way: a list that is searched from one end to the other. */
export class ModelBank {
  memories: Known[] = []

  expire (now: number): void {
    this.memories = this.memories.filter(({ expiresAt }) => expiresAt === null || Date.parse(expiresAt) > now)
  }

  repeatOf (draft: Draft): Known | undefined {
    return this.memories.find((memory) => same(memory, draft))
  }

  /** Newest first. */
  newestFirst (): Known[] {
    return [...this.memories].sort((a, b) => compare(b.retainedAt, a.retainedAt) || compare(b.id, a.id))
  }

  /** Those with one of the words, by themselves or by a neighbour, and with the tags when some are asked for. */
  find (words: readonly string[], tags: readonly string[] = [], match: 'any' | 'all' = 'any'): Known[] {
    const holds = ({ text }: Known) => words.some((word) => wordsOf(text).includes(word))
    return this.memories.filter((memory) => (holds(memory) || this.#neighbours(memory).some(holds)) &&
      (tags.length === 0 || tagged(memory, tags, match)))
  }

  /** The two memories on either side in the same document, whatever their tags. */
  #neighbours (memory: Known): Known[] {
    if (memory.documentId === null) return []
    const sequence = this.memories.filter((other) => other.documentId === memory.documentId)
      .sort((a, b) => compare(placed(a), placed(b)) || compare(a.id, b.id))
    const place = sequence.indexOf(memory)
    return sequence.slice(Math.max(0, place - 2), place + 3)
  }

  remove (which: (memory: Known) => boolean): string[] {
    const gone = this.memories.filter(which).map(({ id }) => id)
    this.memories = this.memories.filter((memory) => !which(memory))
    return gone
  }

  import (lines: readonly Known[], onConflict: 'skip' | 'overwrite', now: number): {
    imported: number, skipped: number, overwritten: number
  } {
    const outcome = { imported: 0, skipped: 0, overwritten: 0 }
    for (const line of lines) {
      const expired = line.expiresAt !== null && Date.parse(line.expiresAt) <= now
      const conflict = (memory: Known) => memory.id === line.id || same(memory, line)
      const conflicts = this.memories.some(conflict)
      if (expired || (conflicts && onConflict === 'skip')) {
        outcome.skipped++
        continue
      }
      this.remove(conflict)
      this.memories.push(line)
      outcome[conflicts ? 'overwritten' : 'imported']++
    }
    return outcome
  }
}

export function tagged (memory: Known, tags: readonly string[], match: 'any' | 'all'): boolean {
  return match === 'all'
    ? tags.every((tag) => memory.tags.includes(tag))
    : tags.some((tag) => memory.tags.includes(tag))
}

/** When a memory was said, as text that sorts by time. */
function placed ({ occurredAt, retainedAt }: Known): string {
  return new Date(occurredAt ?? retainedAt).toISOString()
}

function wordsOf (text: string): string[] {
  return text.normalize('NFC').toLowerCase().split(/[\s.]+/)
}

function same (a: Draft, b: Draft): boolean {
  const plain = (text: string) => text.normalize('NFC').split(/\s+/).filter((word) => word !== '').join(' ')
  return plain(a.text) === plain(b.text) && a.documentId === b.documentId && a.occurredAt === b.occurredAt &&
    new Set(a.tags).size === new Set(b.tags).size && a.tags.every((tag) => b.tags.includes(tag))
}

function compare (a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
