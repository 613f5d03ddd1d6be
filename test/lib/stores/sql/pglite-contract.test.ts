import t from 'tap'
import { vectorStoreContract } from '../../../contract/vector-store.js'
import { pgliteDatabase, schemaIn, storeIn } from '../../../helpers/sql-database.js'

const database = await pgliteDatabase(t)

// Half precision has eleven bits.
vectorStoreContract(
  'SqlVectorStore on PGlite', async (t) => await storeIn(database, { schema: schemaIn(t, database) }),
  { tolerance: 1e-3 },
)
