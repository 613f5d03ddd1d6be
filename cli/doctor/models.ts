import type { Config, ProviderChoice } from '../../lib/config/config.js'
import { embeddingSpace } from '../../lib/operations/open-providers.js'
import { embeddingProviders, languageModels, rerankers } from '../../lib/models/registry.js'
import { makeProvider, type ProviderKind } from '../../lib/config/providers/registry.js'
import type { EmbeddingSpace } from '../../lib/stores/vector-store.js'
import { formatInstant } from '../../lib/base/clock.js'
import { note } from '../output.js'
import { failed, failedWith, ok, type Finding } from './finding.js'

const TIMEOUT_MS = 30_000
const ADVICE = 'check base_url, model and the key in its settings, and the connection to it'

interface Closable {
  close? (): Promise<void>
}

/** Creates a provider, calls it once and closes it. */
async function checkModel<T extends Closable> (
  check: string, config: Config, kind: ProviderKind<T>, { name, config: own }: ProviderChoice,
  ask: (provider: T, signal: AbortSignal) => Promise<Finding>,
): Promise<Finding> {
  let provider: T | undefined
  try {
    provider = await makeProvider(kind, name, own, config.baseDirectory, {
      environment: config.environment ?? {}, info: () => {}, warn: note,
    })
    return await ask(provider, AbortSignal.timeout(TIMEOUT_MS))
  } catch (error) {
    return failedWith(check, error, ADVICE)
  } finally {
    await provider?.close?.()
  }
}

/** The finding on the embedding provider, and the space of its vectors. */
interface EmbeddingFound {
  finding: Finding
  /** Undefined when the provider failed, or when recall does not use vectors. */
  space: EmbeddingSpace | undefined
}

export async function embeddingFinding (config: Config): Promise<EmbeddingFound> {
  const check = 'embedding provider'
  const { embeddings: choice, weights } = config.settings
  let space: EmbeddingSpace | undefined
  const finding = await checkModel(check, config, embeddingProviders, choice, async (provider, signal) => {
    const [vector] = await provider.embed(['memory gateway'], { purpose: 'query', signal })
    if (vector?.length !== provider.dimensions) {
      return failed(
        check,
        `${choice.name} returns vectors of ${vector?.length ?? 0} dimensions but declares ${provider.dimensions}`,
        'set dimensions to the number that the model returns',
      )
    }
    if ((weights.semantic ?? provider.fusionWeight) > 0) space = embeddingSpace(config.settings, provider)
    return ok(check, `${choice.name} returns vectors of ${provider.dimensions} dimensions`)
  })
  return { finding, space }
}

export async function languageModelFinding (config: Config): Promise<Finding> {
  const check = 'language model'
  const choice = config.settings.languageModel
  return await checkModel(check, config, languageModels, choice, async (model, signal) => {
    const messages = [{ role: 'user', content: 'Answer with the word yes.' }] as const
    const evidence = [
      { text: 'The sky is blue.', bankId: 'check', occurredAt: null, retainedAt: formatInstant(Date.now()) },
    ]
    const grounding = { question: 'Is the sky blue?', evidence }
    await model.generate({ messages, grounding, maxTokens: 16, timeoutMs: TIMEOUT_MS, signal })
    return ok(check, `${choice.name} answers`)
  })
}

export async function rerankerFinding (config: Config): Promise<Finding | undefined> {
  const choice = config.settings.reranker
  if (choice === undefined) return undefined
  return await checkModel('reranker', config, rerankers, choice, async (reranker, signal) => {
    const scores = await reranker.rerank('sky', ['The sky is blue.', 'Grass is green.'], { signal })
    return scores.length === 2
      ? ok('reranker', `${choice.name} answers`)
      : failed('reranker', `${choice.name} returned ${scores.length} scores for 2 texts`)
  })
}
