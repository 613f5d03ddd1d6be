import t from 'tap'
import { buildApp } from '../../../app.js'
import type { FileConfig } from '../../../lib/config/schema.js'
import { InMemoryVectorStore } from '../../../lib/stores/in-memory/store.js'
import { SteeredEmbeddings } from '../../fixtures/steered-embeddings.js'
import { testConfig } from '../../helpers/config.js'

const CASES: Array<[what: string, message: RegExp, file: FileConfig, limits: object]> = [
  [
    'settings of a bank with which no recall can work', /weights/,
    { banks: { x: { retrieval: { weights: { lexical: 0, semantic: 0 } } } } }, {},
  ],
  ['invalid bounds of the language model', /maxRetries/, {}, { maxRetries: -1 }],
]

for (const [what, message, file, limits] of CASES) {
  t.test(`${what}: the start fails, every provider is closed, and nothing runs on`, async (t) => {
    const did: string[] = []
    const closing = (name: string) => ({ close: async () => { did.push(`${name} closed`) } })
    const store = Object.assign(new InMemoryVectorStore(), closing('store'), {
      listUnembedded: async () => {
        did.push('a scan')
        return []
      },
    })
    const embeddings = Object.assign(new SteeredEmbeddings(), closing('embeddings'))
    const languageModel = {
      ...closing('language model'), limits, generate: async () => await Promise.reject(new Error('not called')),
    }
    const reranker = { ...closing('reranker'), rerank: async () => [] }
    const overrides = { store, embeddings, languageModel, reranker }
    await t.rejects(buildApp(testConfig({ file }), { overrides }), { message })
    t.strictSame(did.sort(), ['embeddings closed', 'language model closed', 'reranker closed', 'store closed'])
  })
}
