import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { unlessAborted } from '../../base/aborting.js'
import type { EmbeddingProvider, EmbedOptions } from '../embedding-provider.js'
import type { ModelStatus } from '../health.js'
import type { Job, WorkerQueue } from './worker-queue.js'

interface QueuedEmbeddingsOptions {
  model: string
  dimensions: number
  fusionWeight: number
  /** Maximum number of cached vectors; 0 for no cache. */
  cacheSize: number
  /** Makes the text that is embedded, which is also the key of the cache. */
  prepare: (text: string, purpose: 'query' | 'document') => string
  queue: WorkerQueue<string>
  /** Threads for queries alone, so that no query waits for a document. Default: `queue`, where queries come first. */
  queryQueue?: WorkerQueue<string>
}

/** A vector that is being computed or waits to be. */
interface PendingVector {
  queue: WorkerQueue<string>
  job: Job<string>
  /** Calls that wait for the vector. */
  callers: number
}

/** Embeddings by a model in worker threads. Equal texts are computed once, and queries before documents. */
export class QueuedEmbeddings implements EmbeddingProvider {
  readonly model: string
  readonly dimensions: number
  readonly fusionWeight: number
  /** A large write takes too long to wait for. */
  readonly deferred = true
  readonly #options: QueuedEmbeddingsOptions
  readonly #cache: VectorCache
  readonly #pending = new Map<string, PendingVector>()

  constructor (options: QueuedEmbeddingsOptions) {
    this.#options = options
    this.model = options.model
    this.dimensions = options.dimensions
    this.fusionWeight = options.fusionWeight
    this.#cache = new VectorCache(options.cacheSize)
  }

  /**
   * @returns copies, which the caller may change
   * @throws QueueFullError when too many texts wait, the signal's reason when it is aborted, Error when the model fails
   */
  async embed (texts: readonly string[], { signal, purpose = 'document' }: EmbedOptions): Promise<Float32Array[]> {
    signal?.throwIfAborted()
    const prepared = texts.map((text) => this.#options.prepare(text, purpose))
    const { keys, found, missing } = this.#cache.split(prepared)
    const joined = this.#join(missing, purpose === 'query')
    try {
      const vectors = Promise.all(joined.map(async ([key, { job }]) => [key, await job.done] as const))
      const computed = await unlessAborted(vectors, signal)
      for (const [key, vector] of computed) found.set(key, vector)
    } finally {
      this.#leave(joined)
    }
    return keys.map((key) => found.get(key)!.slice())
  }

  status (): ModelStatus {
    const all = this.#queues().map((queue) => queue.status())
    const sum = (of: 'running' | 'waiting') => all.reduce((total, status) => total + status[of], 0)
    return { running: sum('running'), waiting: sum('waiting'), cache: this.#cache.status }
  }

  async close (): Promise<void> {
    await Promise.all(this.#queues().map(async (queue) => { await queue.close() }))
  }

  #queues (): WorkerQueue<string>[] {
    const { queue, queryQueue } = this.#options
    return queryQueue === undefined ? [queue] : [queue, queryQueue]
  }

  /** Joins computations in progress and queues the others. @param missing key to text */
  #join (missing: ReadonlyMap<string, string>, urgent: boolean): Array<[key: string, PendingVector]> {
    const fresh = [...missing].filter(([key]) => !this.#pending.has(key))
    const { queue: documents, queryQueue = documents } = this.#options
    const queue = urgent ? queryQueue : documents
    const jobs = queue.add(fresh.map(([, text]) => text), urgent)
    fresh.forEach(([key], index) => { this.#track(key, queue, jobs[index]!) })
    return [...missing.keys()].map((key) => {
      const pending = this.#pending.get(key)!
      pending.callers++
      if (urgent) pending.queue.promote(pending.job)
      return [key, pending]
    })
  }

  #track (key: string, queue: WorkerQueue<string>, job: Job<string>): void {
    this.#pending.set(key, { queue, job, callers: 0 })
    const end = () => { this.#pending.delete(key) }
    // The vector is cached even when every caller has left, because it is computed anyway.
    job.done.then((vector) => { this.#cache.set(key, vector) }).then(end, end)
  }

  #leave (joined: ReadonlyArray<[key: string, PendingVector]>): void {
    for (const [key, pending] of joined) {
      if (--pending.callers === 0 && pending.queue.drop(pending.job)) this.#pending.delete(key)
    }
  }
}

/** Texts whose vectors are wanted; each distinct one has a key. */
interface SplitTexts {
  /** The key of each text, in order. */
  keys: string[]
  /** The cached vectors by key. */
  found: Map<string, Float32Array>
  /** The texts without a cached vector by key. */
  missing: Map<string, string>
}

/** Vectors of the latest texts, by a hash of the text, which is shorter. */
export class VectorCache {
  readonly #vectors: LRUCache<string, Float32Array> | undefined
  #hits = 0
  #misses = 0

  /** @param size maximum number of vectors; 0 for no cache */
  constructor (size: number) {
    if (size > 0) this.#vectors = new LRUCache({ max: size })
  }

  get status (): NonNullable<ModelStatus['cache']> {
    return { hits: this.#hits, misses: this.#misses }
  }

  /** @param kind texts of different kinds have different vectors, even if they are equal */
  split (texts: readonly string[], kind = ''): SplitTexts {
    const keys = texts.map((text) => createHash('sha256').update(kind + text).digest('base64'))
    const found = new Map<string, Float32Array>()
    const missing = new Map<string, string>()
    keys.forEach((key, index) => {
      const vector = this.#vectors?.get(key)
      if (vector === undefined) missing.set(key, texts[index]!)
      else found.set(key, vector)
    })
    this.#hits += found.size
    this.#misses += missing.size
    return { keys, found, missing }
  }

  set (key: string, vector: Float32Array): void {
    this.#vectors?.set(key, vector)
  }
}
