import t from 'tap'
import { vectorStoreContract } from '../../../contract/vector-store.js'
import { pgliteDatabase, schemaIn, storeIn } from '../../../helpers/sql-database.js'
import { DATABASE_URL } from '../../../helpers/sql-stores.js'

// Both run the same statements, so one of them is enough in one run.
if (DATABASE_URL !== undefined) t.comment('TEST_DATABASE_URL is set: the store is tested on PostgreSQL')
else {
  const database = await pgliteDatabase(t)
  // Half precision has eleven bits.
  vectorStoreContract(
    'SqlVectorStore on PGlite', async (t) => await storeIn(database, { schema: schemaIn(t, database) }),
    { tolerance: 1e-3 },
  )
}
