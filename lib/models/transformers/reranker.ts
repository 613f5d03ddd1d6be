import type { ProviderConfig, ProviderContext } from '../../providers/registry.js'
import { TransformersRerankerSettings } from '../../providers/schemas/workers.js'
import { settingsCheck } from '../../providers/settings.js'
import { unlessAborted } from '../../concurrency/aborting.js'
import { requirePackages } from '../packages.js'
import { WorkerQueue } from '../workers/worker-queue.js'
import type { Reranker } from '../reranker.js'
import { ENGINE, LOAD_TIMEOUT_MS, TRANSFORMERS_PACKAGE, type TransformersInternals } from './embedding-provider.js'
import { modelOptions } from './settings.js'

const NAME = 'reranker: transformers'
/** The model cuts a pair at its end, so a long query would leave no room for the text. */
const MAX_QUERY_CHARACTERS = 1000
const MAX_CHARACTERS = 8000

type Pair = [query: string, text: string]

const check = settingsCheck('reranker_config', TransformersRerankerSettings)

/**
 * `reranker: transformers`: scores by a cross-encoder, which reads query and text together. A score is the model's
 * logit, or with two classes the log odds of the second, and so any real number. The model is loaded in the background.
 * @throws ProviderError for wrong settings, without the package or the model's folder
 */
export function transformersReranker (
  config: ProviderConfig,
  { baseDirectory, warn }: ProviderContext,
  { module = TRANSFORMERS_PACKAGE }: TransformersInternals = {},
): Reranker {
  const settings = check(config)
  const [url] = requirePackages(NAME, [module] as const)
  return new TransformersReranker(new WorkerQueue<Pair>({
    name: NAME,
    engine: ENGINE,
    engineOptions: { task: 'rerank', ...modelOptions(NAME, url, settings, baseDirectory) },
    threads: settings.threads,
    maxWaiting: settings.max_queue,
    batchSize: settings.batch_size,
    timeoutMs: settings.timeout_ms,
    loadTimeoutMs: LOAD_TIMEOUT_MS,
    warn,
  }))
}

class TransformersReranker implements Reranker {
  readonly #queue: WorkerQueue<Pair>

  constructor (queue: WorkerQueue<Pair>) {
    this.#queue = queue
  }

  /**
   * @throws QueueFullError when too many texts wait, the signal's reason when it is aborted, Error when the model fails
   */
  async rerank (query: string, texts: readonly string[], { signal }: { signal?: AbortSignal }): Promise<number[]> {
    signal?.throwIfAborted()
    const shortQuery = query.slice(0, MAX_QUERY_CHARACTERS)
    const jobs = this.#queue.add(texts.map((text): Pair => [shortQuery, text.slice(0, MAX_CHARACTERS)]), true)
    try {
      const scores = await unlessAborted(Promise.all(jobs.map(async ({ done }) => await done)), signal)
      return scores.map(([score]) => score!)
    } finally {
      for (const job of jobs) this.#queue.drop(job)
    }
  }

  async close (): Promise<void> {
    await this.#queue.close()
  }
}
