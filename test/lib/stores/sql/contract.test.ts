import t from 'tap'
import { vectorStoreContract } from '../../../contract/vector-store.js'
import { schemaIn, sqlDatabase, storeIn } from '../../../helpers/sql-database.js'

const database = await sqlDatabase(t)

// Half precision has eleven bits.
vectorStoreContract(
  'SqlVectorStore', async (t) => await storeIn(database, { schema: schemaIn(t, database) }), { tolerance: 1e-3 },
)
