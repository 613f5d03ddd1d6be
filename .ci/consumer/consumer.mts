import memoryGateway, {
  buildApp, loadConfig, ServiceError, ERROR_CODES, type VectorStore, type EmbeddingProvider, type LanguageModel,
  type Reranker, type RecallAnswer, type RecallRequest, type RequestContext, type Config, type HostCaller,
  type ErrorCode,
} from 'memory-gateway'
import Fastify from 'fastify'

const config: Config = loadConfig({}, { file: { access_control: { enabled: true, default_policy: 'open' } } })
const context: RequestContext = { principal: 'user:ada', tenantId: null }
const own = await buildApp(config)
await own.ready()
const app = Fastify()
const caller: HostCaller = { principal: 'user:ada' }
await app.register(memoryGateway, { prefix: '/memory', config, authenticate: () => caller })
await app.ready()
const request: RecallRequest = { bank_id: 'notes', query: 'otters' }
for (const each of [own, app]) {
  await each.memory.retain({ bank_id: 'notes', content: 'Otters hold hands while they sleep' }, context, undefined)
  const answer: RecallAnswer = await each.memory.recall(request, context)
  if (answer.hits[0]?.text !== 'Otters hold hands while they sleep') throw new Error('The memory was not found')
}
const code: ErrorCode = 'access_denied'
if (!(code in ERROR_CODES) || !(new ServiceError(code, 'x') instanceof Error)) {
  throw new Error('The exported errors are incomplete')
}
// @ts-expect-error a recall needs a query
void own.memory.recall({ bank_id: 'notes', question: 'otters' }, context)?.catch(() => {})
// @ts-expect-error the prefix is required
const wrong: Parameters<typeof memoryGateway>[1] = { config }
void wrong
export type Providers = [VectorStore, EmbeddingProvider, LanguageModel, Reranker]
await Promise.all([own.close(), app.close()])
console.log('retained and recalled')
