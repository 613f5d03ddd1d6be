import t from 'tap'
import { testApp } from '../helpers/app.js'
import { schemaIn, sqlDatabase, storeIn } from '../helpers/sql-database.js'
import { DATABASE_URL, openPostgres } from '../helpers/sql-stores.js'
import { until } from '../helpers/waiting.js'

const database = await sqlDatabase(t)
const POSTGRES = { skip: DATABASE_URL === undefined ? 'TEST_DATABASE_URL is not set' : false }
const BANKS = 6

t.test('a caller with many banks leaves connections to another caller', POSTGRES, async (t) => {
  const schema = schemaIn(t, database)
  const executor = openPostgres(t, { poolSize: 2, poolMaxWaiting: BANKS - 2 })
  const { post, retain } = await testApp(t, { file: { retrieval: { weights: { semantic: 0 } } } }, {
    store: await storeIn(executor, { schema }),
  })
  const recall = async (principal: string, bank: string) => (
    await post('/v1/recall', { bank_id: bank, query: 'otters' }, { 'x-service-principal': principal })
  )
  const banks = Array.from({ length: BANKS }, (_, index) => `bank-${index}`)
  for (const bank of [...banks, 'den']) {
    await retain(bank, 'Otters eat fish.')
    // The configurations of the banks are then cached.
    await recall('user:mallory', bank)
  }
  const answers: Array<Promise<{ statusCode: number }>> = []
  await database.transaction(async (tx) => {
    await tx.query(`lock table ${schema}.memories in access exclusive mode`)
    for (const bank of banks) answers.push(recall('user:mallory', bank))
    await until(() => executor.status().waiting === BANKS - 2)
    const answer = recall('user:ann', 'den')
    answers.push(answer)
    t.equal((await Promise.any(answers)).statusCode, 503, 'the queue is full, so one request is refused')
  })
  const statuses = (await Promise.all(answers)).map(({ statusCode }) => statusCode)
  t.equal(statuses.pop(), 200, 'but not the one of the caller who has only this one')
  t.same(statuses.filter((status) => status === 503), [503], 'but one of the caller who has most')
})
