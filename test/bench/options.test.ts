import t from 'tap'
import { readOptions } from '../../bench/http/options.js'

await t.test('by default everything is measured at 1, 16 and 64 connections for 5 seconds', async (t) => {
  const { routes, overhead, connections, seconds, json } = readOptions([])
  t.strictSame(routes, ['retain', 'recall-1000', 'recall-10000', 'reflect-1000', 'live'])
  t.strictSame([overhead, connections, seconds, json], [true, [1, 16, 64], 5, undefined])
})

await t.test('--only selects what is measured', async (t) => {
  const { routes, overhead } = readOptions(['--only', 'live, recall-1000', '--tool', 'autocannon'])
  t.strictSame(routes, ['recall-1000', 'live'])
  t.equal(overhead, false)
})

await t.test('an unknown option or value is an error', async (t) => {
  t.throws(() => readOptions(['--nope']), { code: 'ERR_PARSE_ARGS_UNKNOWN_OPTION' })
  t.throws(() => readOptions(['--only', 'live,lives']), { message: /lives is not known/ })
  t.throws(() => readOptions(['--tool', 'ab']), { message: /allowed are wrk and autocannon/ })
  for (const value of ['0', '-1', 'x', '1.5', '']) {
    t.throws(() => readOptions([`--duration=${value}`]), { message: /--duration/ })
  }
  t.throws(() => readOptions(['--connections', '1,,16']), { message: /--connections/ })
})
