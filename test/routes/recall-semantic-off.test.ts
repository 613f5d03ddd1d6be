import t from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import type { EmbedOptions } from '../../lib/models/embedding-provider.js'
import { testApp } from '../helpers/app.js'
import { putConfig } from './bank-configs.js'
import { hitsOf } from './support.js'

await t.test('a recall on several banks embeds no query when one has the semantic strategy off', async (t) => {
  const files: FileConfig[] =
    [{ retrieval: { weights: { semantic: 1 } } }, { retrieval: { weights: { lexical: 0, semantic: 1 } } }]
  for (const file of files) {
    const queries: string[] = []
    const embeddings = {
      dimensions: 2,
      fusionWeight: 1,
      embed: async (texts: readonly string[], { purpose }: EmbedOptions) => {
        if (purpose === 'query') queries.push(...texts)
        return texts.map(() => Float32Array.from([1, 0]))
      },
    }
    const app = await testApp(t, { file }, { embeddings })
    for (const bank of ['plain', 'open']) await app.retain(bank, 'The otter sleeps on the river.')
    await putConfig(app, 'plain', { retrieval: { weights: { lexical: 1, semantic: 0 } } })
    const recall = async (...banks: string[]) => hitsOf(await app.post('/v1/recall', { banks, query: 'otter' }))
    t.equal((await recall('plain', 'open')).length, 2)
    t.equal((await recall('open', 'plain')).length, 2)
    t.same(queries, [])
    await recall('open')
    t.equal(queries.length, 1)
  }
})
