import t from 'tap'
import { vectorStoreContract } from '../../../contract/vector-store.js'
import { postgresStore } from '../../../helpers/sql-stores.js'

/** A pooler in transaction mode before the database of TEST_DATABASE_URL. */
const url = process.env['TEST_POOLER_URL']

if (url === undefined) t.comment('TEST_POOLER_URL is not set: the store is not tested through a pooler')
else {
  vectorStoreContract(
    'SqlVectorStore through a pooler', async (t) => await postgresStore(t, { url, transactionPooler: true }),
    { tolerance: 1e-3 },
  )
}
