import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startGateway, type ChildServer } from '../child-server.js'
import { UnusableInput } from '../checker.js'
import type { Pipeline } from './pipelines.js'

/** The stores that `--store` knows. */
export const STORES = ['in_memory', 'pglite', 'postgres'] as const
export type StoreName = (typeof STORES)[number]

export interface Embedder {
  /** A registered name or module:Class; `none` is the mock, which is not searched. */
  name: string
  config?: Record<string, unknown>
  /** For `local` in process: the file that keeps its vectors. */
  vectors?: string
}

/** The embedding provider for `local` with a file. */
const CACHED_EMBEDDINGS = `${fileURLToPath(new URL('cached-embeddings.ts', import.meta.url))}:CachedEmbeddings`

/** What a run measures: all parts of the gateway's configuration. */
export interface Setting {
  pipeline: Pipeline
  embedder: Embedder
  store: StoreName
}

/** The configuration file of a run, without its store. JSON is YAML. */
export function configurationOf ({
  pipeline: { retrieval }, embedder: { name, config, vectors },
}: Pick<Setting, 'pipeline' | 'embedder'>): Record<string, unknown> {
  return {
    ...(vectors !== undefined
      ? { embedding_provider: CACHED_EMBEDDINGS, embedding_provider_config: { ...config, file: vectors } }
      : {
          embedding_provider: name === 'none' ? 'mock' : name,
          ...(config !== undefined && { embedding_provider_config: config }),
        }),
    ...(retrieval !== undefined && { retrieval }),
  }
}

/** For reports: the name and, if configured, the model. No other setting, because they may contain keys. */
export function embedderLabel ({ name, config }: Embedder): string {
  const model = config?.['model']
  return typeof model === 'string' ? `${name} (${model})` : name
}

/** Starts the built gateway with the setting. Stopping it removes its data, except PostgreSQL's schema bench_recall. */
export async function startSetting ({ store, ...rest }: Setting): Promise<ChildServer> {
  const configuration = configurationOf(rest)
  const env = keyEnvironment(rest.embedder)
  if (store === 'in_memory') return await startGateway(JSON.stringify(configuration), env)
  if (store === 'postgres') {
    const url = process.env['DATABASE_URL']
    if (url === undefined) throw new UnusableInput('--store postgres needs DATABASE_URL')
    return await startGateway(
      JSON.stringify({ ...configuration, vector_store: 'postgres', vector_store_config: { schema: 'bench_recall' } }),
      { ...env, DATABASE_URL: url },
    )
  }
  const folder = await mkdtemp(join(tmpdir(), 'memory-gateway-bench-'))
  const remove = async () => { await rm(folder, { recursive: true, force: true }) }
  try {
    const server = await startGateway(
      JSON.stringify({ ...configuration, vector_store: 'pglite', vector_store_config: { data_dir: folder } }), env,
    )
    return { ...server, stop: async () => { await server.stop(); await remove() } }
  } catch (error) {
    await remove()
    throw error
  }
}

/**
 * Only the variable that the embedder's settings name: nothing else of the developer's environment reaches the gateway.
 */
function keyEnvironment ({ config }: Embedder): Record<string, string> {
  const name = config?.['api_key_env']
  if (typeof name !== 'string') return {}
  const value = process.env[name]
  if (value === undefined) {
    throw new UnusableInput('--embedder-config: the environment variable of api_key_env is not set')
  }
  return { [name]: value }
}
