import { Corpus } from '../http/corpus.js'
import { bankOfSize, fill } from '../http/workloads.js'
import { startGateway, type ChildServer } from '../child-server.js'
import { JsonClient } from '../json-client.js'
import { GC_NODE_OPTIONS } from './memory.js'

const BANK_SIZE = 1000
const DIFFERENT_QUERIES = 2000

/** Queries about the bank, the same in every run. */
export function reflectBodies (timeoutMs?: number): string[] {
  const { bankId, texts } = bankOfSize(BANK_SIZE)
  const corpus = new Corpus(3)
  return Array.from({ length: DIFFERENT_QUERIES }, () => JSON.stringify({
    bank_id: bankId, query: corpus.query(texts), ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
  }))
}

/** Starts the built gateway with the model and fills its bank of 1,000. */
export async function startReflecting (modelUrl: string, maxConcurrency: number): Promise<ChildServer> {
  const gateway = await startGateway(configuration(modelUrl, maxConcurrency), {}, 'ignore', GC_NODE_OPTIONS)
  const client = new JsonClient(gateway.url)
  try {
    const { bankId, texts } = bankOfSize(BANK_SIZE)
    await fill(client, bankId, texts)
    return gateway
  } catch (error) {
    await gateway.stop()
    throw error
  } finally {
    client.close()
  }
}

/** The defaults, without an embedding model: no rate limit, no quota. One caller opens all streams. */
function configuration (modelUrl: string, maxConcurrency: number): string {
  return `embedding_provider: mock
llm_provider: openai_compatible
llm_provider_config:
  base_url: ${modelUrl}/v1
  model: scripted
  max_concurrency: ${maxConcurrency}
bounds: { streams_per_caller: 10000 }
`
}
