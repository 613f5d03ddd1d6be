import { takesPart, withContext, type Lender } from '../context.js'
import type { Passage } from '../vector-store.js'
import type { Entry, PassageRef } from './bank.js'
import { DocumentSequence } from './document.js'
import type { LexicalIndex } from './lexical-index.js'

/** Keeps a bank's lexical index as lib/stores/context.ts has it: every memory with the terms that its neighbours lend. */
export class ContextIndexing {
  readonly #lexical: LexicalIndex<PassageRef>
  readonly #documents = new Map<string, DocumentSequence>()

  constructor (lexical: LexicalIndex<PassageRef>) {
    this.#lexical = lexical
  }

  /** Takes `removed` out of the index, puts `added` in, and indexes anew who has other neighbours now. */
  update (added: ReadonlyArray<{ entry: Entry, passages: readonly Passage[] }>, removed: ReadonlySet<Entry>): void {
    const lenders = new Map<Entry, Lender>()
    const changed = new Set<Entry>()
    for (const entry of removed) {
      for (const near of this.#leave(entry)) changed.add(near)
      for (const { lexical } of entry.passages) if (lexical !== undefined) this.#lexical.remove(lexical)
    }
    for (const { entry, passages } of added) {
      if (this.#join(entry)) {
        lenders.set(entry, { terms: passages[0]!.terms, question: entry.question })
        changed.add(entry)
      } else {
        for (const [index, { terms, length }] of passages.entries()) {
          const ref = entry.passages[index]!
          ref.lexical = this.#lexical.add(ref, terms, length)
        }
      }
    }
    for (const { entry } of added) {
      const document = this.#documentOf(entry)
      if (document !== undefined) for (const near of [...document.before(entry), ...document.behind(entry)]) changed.add(near)
    }
    for (const entry of removed) changed.delete(entry)
    const lengths = new Map(added.map(({ entry, passages }) => [entry, passages[0]?.length ?? 0]))
    this.#index(changed, lenders, lengths)
  }

  #index (changed: ReadonlySet<Entry>, lenders: Map<Entry, Lender>, lengths: ReadonlyMap<Entry, number>): void {
    const lenderOf = (entry: Entry): Lender => {
      const known = lenders.get(entry) ?? this.#lenderOf(entry)
      lenders.set(entry, known)
      return known
    }
    // All is read before anything is written: a lender's terms are known by its place in the index.
    const anew = [...changed].map((entry) => {
      const document = this.#documentOf(entry)!
      const terms = withContext(lenderOf(entry), document.before(entry).map(lenderOf), document.behind(entry).map(lenderOf))
      return { ref: entry.passages[0]!, terms, length: lengths.get(entry) }
    })
    for (const { ref, terms, length } of anew) {
      const known = ref.lexical
      const own = length ?? this.#lexical.lengthOf(known!)
      if (known !== undefined) this.#lexical.remove(known)
      ref.lexical = this.#lexical.add(ref, terms, own)
    }
  }

  #lenderOf (entry: Entry): Lender {
    const { postings, ownTerms } = entry.passages[0]!.lexical!
    return { terms: new Map(postings.slice(0, ownTerms).map(({ term }, index) => [term, entry.ownCounts?.[index] ?? 1])), question: entry.question }
  }

  #documentOf ({ memory, passages }: Entry): DocumentSequence | undefined {
    return takesPart(memory, passages) ? this.#documents.get(memory.documentId!) : undefined
  }

  #join (entry: Entry): boolean {
    const { memory, passages } = entry
    if (!takesPart(memory, passages)) return false
    const document = this.#documents.get(memory.documentId!) ?? new DocumentSequence()
    document.add(entry)
    this.#documents.set(memory.documentId!, document)
    return true
  }

  /** @returns who had the entry for a neighbour */
  #leave (entry: Entry): Entry[] {
    const document = this.#documentOf(entry)
    const near = document?.remove(entry) ?? []
    if (document?.size === 0) this.#documents.delete(entry.memory.documentId!)
    return near
  }
}
