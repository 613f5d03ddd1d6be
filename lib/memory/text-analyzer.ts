import { runSyncOrInTurns, type Steps } from '../concurrency/steps.js'
import { passageSteps } from '../retrieval/passages.js'
import type { Passage } from '../stores/vector-store.js'
import { PackedTerms, packTerms } from '../text/packed-terms.js'
import { inspectionSteps, type InspectedMemory, type Inspection } from './inspection.js'
import type { ClonedPassage, TextJob } from './text-jobs.js'
import type { TextThread } from './text-thread.js'

/** The cost of a text besides its characters, in characters. */
const TEXT_COST = 200
/** The cost from which the thread does the work: some milliseconds of the event loop. */
const MIN_THREAD_COST = 16_384
/** The most that one job costs, after which another caller has its turn; but a text is not divided. */
const JOB_COST = 32_768
/**
 * From this number of characters in one call, the terms of each text are packed once they are extracted. A batch of 10
 * MiB has 1,400,000, which as maps occupy 100 MB during the write. Terms from the thread are always packed.
 */
const MIN_PACKED_CHARACTERS = 1024 * 1024

/** One kind of work. */
interface Work<Item, Result> {
  lengthOf: (item: Item) => number
  /** For the event loop. */
  steps: (item: Item) => Steps<Result>
  /** For the thread. */
  job: (items: readonly Item[]) => TextJob
  read: (results: unknown) => Result[]
}

const INSPECTING: Work<InspectedMemory, Inspection> = {
  lengthOf: ({ text }) => text.length,
  steps: inspectionSteps,
  job: (memories) => ({
    kind: 'inspect',
    memories: memories.map(({ text, tags, metadata, documentId, source, occurredAt }) => (
      { text, tags, metadata, documentId, source, occurredAt }
    )),
  }),
  read: (results) => results as Inspection[],
}

/** Reads texts before they are stored: short ones on the event loop, long ones and many in a thread. */
export class TextAnalyzer {
  readonly #thread: Pick<TextThread, 'start' | 'run' | 'close'>

  constructor (thread: Pick<TextThread, 'start' | 'run' | 'close'>) {
    this.#thread = thread
  }

  /**
   * @param caller as in TurnBudget.next
   * @param signal ends the work with its reason
   * @returns the inspection of each memory, in order
   */
  async inspect (memories: readonly InspectedMemory[], caller: string, signal?: AbortSignal): Promise<Inspection[]> {
    return await this.#map(memories, INSPECTING, caller, signal)
  }

  /**
   * Splits texts into passages with their terms, without vectors.
   * @param maxCharacters the longest passage
   * @param caller as in TurnBudget.next
   * @param signal ends the work with its reason
   * @returns the passages of each text, in order
   */
  async split (
    texts: readonly string[], maxCharacters: number, caller: string, signal?: AbortSignal,
  ): Promise<Passage[][]> {
    const characters = texts.reduce((sum, { length }) => sum + length, 0)
    const steps = characters < MIN_PACKED_CHARACTERS ? passageSteps : packedPassageSteps
    return await this.#map(texts, {
      lengthOf: ({ length }) => length,
      steps: (text) => steps(text, maxCharacters),
      job: (texts) => ({ kind: 'split', texts, maxCharacters }),
      read: (results) => (results as ClonedPassage[][]).map((passages) => passages.map(({ terms, ...passage }) => ({
        ...passage, terms: new PackedTerms(terms),
      }))),
    }, caller, signal)
  }

  /** Ends the thread. */
  async close (): Promise<void> {
    await this.#thread.close()
  }

  async #map<Item, Result> (
    items: readonly Item[], work: Work<Item, Result>, caller: string, signal: AbortSignal | undefined,
  ): Promise<Result[]> {
    let total = 0
    for (const item of items) total += TEXT_COST + work.lengthOf(item)
    const results: Result[] = []
    if (total < MIN_THREAD_COST) {
      for (const item of items) results.push(await runSyncOrInTurns(work.steps(item), caller))
      return results
    }
    await this.#thread.start()
    for (const part of partsOf(items, work.lengthOf)) {
      signal?.throwIfAborted()
      const found = await this.#thread.run(work.job(part), caller)
      if (found !== undefined) results.push(...work.read(found))
      else for (const item of part) results.push(await runSyncOrInTurns(work.steps(item), caller))
    }
    return results
  }
}

function * packedPassageSteps (text: string, maxCharacters: number): Steps<Passage[]> {
  const passages = yield * passageSteps(text, maxCharacters)
  for (const passage of passages) passage.terms = new PackedTerms(packTerms(passage.terms))
  return passages
}

/** Divides items, in order, into lists that cost at most JOB_COST, or of one item that costs more. */
function * partsOf<Item> (items: readonly Item[], lengthOf: (item: Item) => number): Generator<Item[]> {
  let part: Item[] = []
  let sum = 0
  for (const item of items) {
    const cost = TEXT_COST + lengthOf(item)
    if (part.length > 0 && sum + cost > JOB_COST) {
      yield part
      part = []
      sum = 0
    }
    part.push(item)
    sum += cost
  }
  if (part.length > 0) yield part
}
