import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { EmbeddingProvider, EmbedOptions } from '../embedding-provider.js'
import type { ModelStatus } from '../status.js'
import { unlessAborted } from '../../concurrency/aborting.js'
import type { Job, WorkerQueue } from './worker-queue.js'

export interface QueuedEmbeddingsOptions {
  model: string
  dimensions: number
  fusionWeight: number
  /** Vectors to be kept at most; 0: none. */
  cacheSize: number
  /** What is computed in place of a text, and by which it is known to be the same. */
  prepare: (text: string, purpose: 'query' | 'document') => string
  queue: WorkerQueue<string>
  /** Computes queries, so that none waits for a document. Default: `queue`, where they come first. */
  queryQueue?: WorkerQueue<string>
}

/** A text that is being computed or waits for it, and how many calls want its vector. */
interface Shared {
  queue: WorkerQueue<string>
  job: Job<string>
  wanted: number
}

/** Embeddings by a model in worker threads. A text that is known or under way is not computed again; queries come before documents. */
export class QueuedEmbeddings implements EmbeddingProvider {
  readonly model: string
  readonly dimensions: number
  readonly fusionWeight: number
  /** A bank of documents takes long. */
  readonly deferred = true
  readonly #options: QueuedEmbeddingsOptions
  readonly #cache: LRUCache<string, Float32Array> | undefined
  readonly #underway = new Map<string, Shared>()
  #hits = 0
  #misses = 0

  constructor (options: QueuedEmbeddingsOptions) {
    this.#options = options
    this.model = options.model
    this.dimensions = options.dimensions
    this.fusionWeight = options.fusionWeight
    if (options.cacheSize > 0) this.#cache = new LRUCache({ max: options.cacheSize })
  }

  /**
   * @returns vectors of the caller's own
   * @throws QueueFullError when too many texts wait, the signal's reason when it is aborted, Error when the model fails
   */
  async embed (texts: readonly string[], { signal, purpose = 'document' }: EmbedOptions): Promise<Float32Array[]> {
    signal?.throwIfAborted()
    const prepared = texts.map((text) => this.#options.prepare(text, purpose))
    const keys = prepared.map((text) => createHash('sha256').update(text).digest('base64'))
    const known = new Map<string, Float32Array>()
    const lacking = new Map<string, string>()
    keys.forEach((key, index) => {
      const vector = this.#cache?.get(key)
      if (vector === undefined) lacking.set(key, prepared[index]!)
      else known.set(key, vector)
    })
    this.#hits += known.size
    this.#misses += lacking.size
    const wanted = this.#want(lacking, purpose === 'query')
    try {
      const computed = await unlessAborted(Promise.all(wanted.map(async ([key, { job }]) => [key, await job.done] as const)), signal)
      for (const [key, vector] of computed) known.set(key, vector)
    } finally {
      this.#leave(wanted)
    }
    return keys.map((key) => known.get(key)!.slice())
  }

  status (): ModelStatus {
    const all = this.#queues().map((queue) => queue.status())
    const sum = (of: 'running' | 'waiting') => all.reduce((total, status) => total + status[of], 0)
    return { running: sum('running'), waiting: sum('waiting'), cache: { hits: this.#hits, misses: this.#misses } }
  }

  async close (): Promise<void> {
    await Promise.all(this.#queues().map(async (queue) => { await queue.close() }))
  }

  #queues (): WorkerQueue<string>[] {
    const { queue, queryQueue } = this.#options
    return queryQueue === undefined ? [queue] : [queue, queryQueue]
  }

  /** @param lacking key to text */
  #want (lacking: ReadonlyMap<string, string>, urgent: boolean): Array<[key: string, Shared]> {
    const fresh = [...lacking].filter(([key]) => !this.#underway.has(key))
    const { queue: documents, queryQueue = documents } = this.#options
    const queue = urgent ? queryQueue : documents
    const jobs = queue.add(fresh.map(([, text]) => text), urgent)
    fresh.forEach(([key], index) => { this.#share(key, queue, jobs[index]!) })
    return [...lacking.keys()].map((key) => {
      const shared = this.#underway.get(key)!
      shared.wanted++
      if (urgent) shared.queue.hurry(shared.job)
      return [key, shared]
    })
  }

  #share (key: string, queue: WorkerQueue<string>, job: Job<string>): void {
    this.#underway.set(key, { queue, job, wanted: 0 })
    const end = () => { this.#underway.delete(key) }
    // Also when nobody waits any more: what was begun is not lost.
    job.done.then((vector) => { this.#cache?.set(key, vector) }).then(end, end)
  }

  #leave (wanted: ReadonlyArray<[key: string, Shared]>): void {
    for (const [key, shared] of wanted) {
      if (--shared.wanted === 0 && shared.queue.drop(shared.job)) this.#underway.delete(key)
    }
  }
}
