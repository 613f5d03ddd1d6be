import t from 'tap'
import type { FileConfig } from '../../../lib/config/schema.js'
import { InMemoryVectorStore } from '../../../lib/stores/in-memory/store.js'
import { testApp } from '../../helpers/app.js'
import { testConfig } from '../../helpers/config.js'

const WRITER = { 'x-service-principal': 'user:writer' }
const MEMORIES = '/v1/default/banks/team/memories'
const compatibility = { hindsight: true }

function replacement (content: string): object {
  return { items: [{ content, document_id: 'diary' }] }
}

/** A store in which something else happens just before documents are replaced. */
class OvertakingStore extends InMemoryVectorStore {
  overtaking: (() => Promise<unknown>) | undefined

  override async replaceDocuments (
    ...write: Parameters<InMemoryVectorStore['replaceDocuments']>
  ): ReturnType<InMemoryVectorStore['replaceDocuments']> {
    await this.overtaking?.()
    return await super.replaceDocuments(...write)
  }
}

t.test('a caller who is allowed to forget during the write is asked to send it again', async (t) => {
  const fileWith = (...permissions: Array<'read' | 'write' | 'forget'>): FileConfig => ({
    compatibility,
    access_control: { enabled: true, default_policy: 'deny' },
    access_grants: [{ bank_id: 'team', principal: 'user:writer', permissions }],
  })
  const store = new OvertakingStore()
  const { post, get } = await testApp(t, { file: fileWith('read', 'write') }, { store }, {
    reloadConfig: () => testConfig({ file: fileWith('read', 'write', 'forget') }),
  })
  t.equal((await post(MEMORIES, replacement('first'), WRITER)).statusCode, 200)
  store.overtaking = async () => { t.equal((await post('/v1/admin/reload', {})).statusCode, 200) }
  const refused = await post(MEMORIES, replacement('second'), WRITER)
  t.equal(refused.statusCode, 409)
  t.match(refused.json(), {
    code: 'conflict', detail: 'The right to forget was granted during the write; send it again',
  })
  const list = async () => (await get('/v1/banks/team/memories', WRITER)).json<object>()
  t.match(await list(), { memories: [{ text: 'first' }] }, 'nothing is stored')
  store.overtaking = undefined
  t.equal((await post(MEMORIES, replacement('second'), WRITER)).statusCode, 200)
  t.match(await list(), { memories: [{ text: 'second' }] })
})

t.test('a replacement that the limit of retain refuses uses no forget', async (t) => {
  const { post, retain } = await testApp(t, {
    file: { compatibility, homeostasis: { rate_limits: { retain_per_minute: 2, forget_per_minute: 1 } } },
  })
  const id = await retain('team', 'Alice drinks green tea.')
  t.equal((await post(MEMORIES, replacement('first'))).statusCode, 200)
  const refused = await post(MEMORIES, replacement('second'))
  t.equal(refused.statusCode, 429)
  t.match(refused.json(), { detail: /retain_per_minute/ })
  t.match((await post('/v1/forget', { bank_id: 'team', memory_ids: [id] })).json(), { deleted_count: 1 })
})
