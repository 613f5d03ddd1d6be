import t from 'tap'
import { vectorStoreContract } from '../../../contract/vector-store.js'
import { DATABASE_URL, postgresStore } from '../../../helpers/sql-stores.js'

if (DATABASE_URL === undefined) t.comment('TEST_DATABASE_URL is not set: the store is tested on PGlite only')
// Half precision has eleven bits.
else vectorStoreContract('SqlVectorStore on PostgreSQL', postgresStore, { tolerance: 1e-3 })
