import t from 'tap'
import { INPUTS } from './inputs/all.js'
import { readOptions } from './options.js'

const URL = 'postgres://somewhere/test'

await t.test('by default every input runs on every available store', async (t) => {
  const options = readOptions([], {})
  t.strictSame(options.inputs, INPUTS.map(({ name }) => name))
  t.match(options, {
    generated: true,
    stores: ['in_memory', 'pglite'],
    heap: 512,
    seconds: 60,
    seed: 1,
    impact: false,
    soakMinutes: undefined,
    json: undefined,
  })
  t.strictSame(readOptions([], { TEST_DATABASE_URL: URL }).stores, ['in_memory', 'pglite', 'postgres'])
})

await t.test('--only accepts names and prefixes of names', async (t) => {
  t.strictSame(readOptions(['--only', 'import-tiny'], {}).inputs, ['import-tiny'])
  t.strictSame(readOptions(['--only', 'foreign-host, never-read'], {}).inputs, [
    'never-read-recall', 'never-read-list', 'never-read-export', 'foreign-host',
  ])
  t.match(
    readOptions(['--only', 'generated', '--seconds', '5', '--seed=7', '--cases', 'POST /v1'], {}),
    { inputs: [], generated: true, seconds: 5, seed: 7, cases: 'POST /v1' },
  )
  t.equal(readOptions(['--only', 'import-tiny'], {}).generated, false)
})

await t.test('names are unique, and none begins with the word for generated inputs', async (t) => {
  t.equal(new Set(INPUTS.map(({ name }) => name)).size, INPUTS.length)
  t.notOk(INPUTS.some(({ name }) => name.startsWith('generated')))
})

await t.test('unknown and invalid values are errors', async (t) => {
  t.throws(() => readOptions(['--nope'], {}), { code: 'ERR_PARSE_ARGS_UNKNOWN_OPTION' })
  t.throws(() => readOptions(['--only', 'nope'], {}), { message: /nope is not known/ })
  t.throws(() => readOptions(['--store', 'redis'], {}), { message: /redis is not known/ })
  t.throws(() => readOptions(['--store', 'postgres'], {}), { message: /TEST_DATABASE_URL/ })
  t.throws(() => readOptions(['--heap', '1'], {}), { message: /--heap/ })
  t.throws(() => readOptions(['--soak', '0'], {}), { message: /--soak/ })
  t.throws(() => readOptions(['--soak', '1', '--impact'], {}), { message: /exclude each other/ })
})
