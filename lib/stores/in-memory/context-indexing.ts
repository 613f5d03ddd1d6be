import { takesPart, withContext, type Lender } from '../context.js'
import type { Passage } from '../vector-store.js'
import { DocumentSequence } from './document.js'
import type { Entry, PassageRef } from './entry.js'
import type { LexicalDocument } from './lexical-document.js'
import type { LexicalIndex } from './lexical-index.js'
import type { Steps } from '../../steps.js'
import { SplitMap } from '../split-map.js'

/** Lenders that are remembered at most while a change is indexed: neighbours ask for the same ones. */
const REMEMBERED = 64

/** Keeps a bank's lexical index as lib/stores/context.ts has it: every memory with the terms that its neighbours lend. */
export class ContextIndexing {
  readonly #lexical: LexicalIndex<PassageRef>
  readonly #documents = new SplitMap<DocumentSequence>()

  constructor (lexical: LexicalIndex<PassageRef>) {
    this.#lexical = lexical
  }

  /**
   * Takes `removed` out of the index, puts `added` in, and indexes anew who has other neighbours now. Nothing fails.
   * @param passagesOf those of `added`, in order
   * @returns the documents of the index that were added or removed
   */
  * update (added: readonly Entry[], passagesOf: (index: number) => readonly Passage[], removed: readonly Entry[]): Steps<Array<LexicalDocument<PassageRef>>> {
    const touched: Array<LexicalDocument<PassageRef>> = []
    const changed: Entry[] = []
    const change = (entry: Entry): void => {
      if (entry.task !== undefined) return
      entry.task = 'again'
      changed.push(entry)
    }
    for (const entry of removed) {
      entry.task = 'leaves'
      yield
    }
    for (const entry of removed) {
      for (const near of this.#leave(entry)) change(near)
      for (const ref of entry.passages) {
        this.#lexical.remove(ref.lexical!)
        touched.push(ref.lexical!)
        yield
      }
    }
    for (const [index, entry] of added.entries()) {
      const passages = passagesOf(index)
      if (this.#join(entry)) {
        entry.task = passages[0]!
        changed.push(entry)
        yield
        continue
      }
      for (const [at, { terms, length }] of passages.entries()) {
        const ref = entry.passages[at]!
        touched.push(ref.lexical = this.#lexical.add(ref, terms, length))
        yield
      }
    }
    for (const entry of added) {
      const document = this.#documentOf(entry)
      if (document !== undefined) for (const near of [...document.before(entry), ...document.behind(entry)]) change(near)
      yield
    }
    if (changed.length > 0) yield * this.#index(changed, touched)
    return touched
  }

  * #index (changed: readonly Entry[], touched: Array<LexicalDocument<PassageRef>>): Steps<void> {
    const lenders = new Map<Entry, Lender>()
    const lenderOf = (entry: Entry): Lender => {
      const known = lenders.get(entry)
      if (known !== undefined) return known
      if (lenders.size === REMEMBERED) lenders.clear()
      const lender = this.#lenderOf(entry)
      lenders.set(entry, lender)
      return lender
    }
    for (const entry of changed) {
      const document = this.#documentOf(entry)!
      const terms = withContext(lenderOf(entry), document.before(entry).map(lenderOf), document.behind(entry).map(lenderOf))
      const ref = entry.passages[0]!
      const known = ref.lexical
      const length = typeof entry.task === 'object' ? entry.task.length : this.#lexical.lengthOf(known!)
      // The new document comes first, so that the terms of both stay in the vocabulary.
      touched.push(ref.lexical = this.#lexical.add(ref, terms, length))
      if (known !== undefined) {
        this.#lexical.remove(known)
        touched.push(known)
      }
      entry.task = undefined
      yield
    }
  }

  #lenderOf ({ task, passages, question, ownCounts }: Entry): Lender {
    if (typeof task === 'object') return { terms: task.terms, question }
    const { postings, ownTerms } = passages[0]!.lexical!
    return { terms: new Map(postings.slice(0, ownTerms).map(({ term }, index) => [term, ownCounts?.[index] ?? 1])), question }
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
