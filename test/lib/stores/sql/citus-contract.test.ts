import t from 'tap'
import { vectorStoreContract } from '../../../contract/vector-store.js'
import { CITUS_URL, citusStore, distributedSchema, NEEDS_CITUS, openCitus } from '../../../helpers/citus.js'

if (CITUS_URL === undefined) t.test('the contract of stores on a cluster of Citus', NEEDS_CITUS, async () => {})
else {
  const coordinator = openCitus(t)
  // Half precision has eleven bits.
  vectorStoreContract('SqlVectorStore on Citus', async (t) => (
    await citusStore(coordinator, await distributedSchema(t, coordinator))
  ), { tolerance: 1e-3 })
}
