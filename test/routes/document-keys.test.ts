import t from 'tap'
import { ServiceError } from '../../lib/base/service-error.js'
import { testApp } from '../helpers/app.js'
import { rejection } from '../helpers/rejection.js'

await t.test('a document_id that is too long for the index together with tenant and bank is an ' +
  'invalid field', async (t) => {
  const { app } = await testApp(t)
  const bankId = 'b'.repeat(255)
  const retain = async (tenantId: string | null, documentId: string) => (
    await app.memory.retain({ bank_id: bankId, content: 'otter', document_id: documentId }, { tenantId })
  )
  const longest = '😀'.repeat(512)
  for (const [tenantId, documentId] of [
    [null, longest], ['t'.repeat(256), longest], ['é'.repeat(128), longest], ['😀'.repeat(256), 'd'.repeat(512)],
  ] as const) {
    t.match(await retain(tenantId, documentId), { stored: true })
  }
  for (const tenantId of ['t'.repeat(258), '😀'.repeat(65)]) {
    const { code, members: { errors } } = await rejection(ServiceError, retain(tenantId, longest))
    t.equal(code, 'invalid_request')
    t.strictSame(errors?.map(({ field }) => field), ['document_id'])
  }
})
