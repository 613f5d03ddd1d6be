import t from 'tap'
import { RowLoader } from '../../console/src/pages/memories/row-loader.js'

/** A loader of which every page waits until it is let go. */
function held () {
  const asked: number[] = []
  const waiting = new Map<number, PromiseWithResolvers<readonly string[]>>()
  const errors: unknown[] = []
  let changes = 0
  const rows = new RowLoader<string>(10, async (page) => {
    asked.push(page)
    const held = withResolvers<readonly string[]>()
    waiting.set(page, held)
    return await held.promise
  }, (error) => {
    changes++
    errors.push(error)
  })
  const settle = async () => { await new Promise((resolve) => { setImmediate(resolve) }) }
  const give = async (page: number) => {
    waiting.get(page)?.resolve(Array.from({ length: 10 }, (_, index) => `row ${page * 10 + index}`))
    await settle()
  }
  const fail = async (page: number) => {
    waiting.get(page)?.reject(new Error('away'))
    await settle()
  }
  return { rows, asked, errors, give, fail, changes: () => changes }
}

interface PromiseWithResolvers<T> { promise: Promise<T>, resolve: (value: T) => void, reject: (error: Error) => void }

function withResolvers<T> (): PromiseWithResolvers<T> {
  let resolve: (value: T) => void = () => {}
  let reject: (error: Error) => void = () => {}
  const promise = new Promise<T>((_resolve, _reject) => {
    resolve = _resolve
    reject = _reject
  })
  return { promise, resolve, reject }
}

t.test('two pages are loaded at the same time, each once, and the last requested one first', async (t) => {
  const { rows, asked, give, changes } = held()
  for (const index of [0, 5, 15, 25, 35, 45, 55]) rows.requestRow(index)
  t.same(asked, [0, 1])
  t.equal(rows.at(7), undefined)
  await give(0)
  t.equal(rows.at(7), 'row 7')
  t.same(asked, [0, 1, 5], 'the last requested page is loaded next')
  await give(5)
  await give(4)
  await give(1)
  await give(3)
  t.same(asked, [0, 1, 5, 4, 3], 'a page that was scrolled past is not loaded')
  t.equal(changes(), 5)
  rows.requestRow(3)
  t.equal(asked.length, 5, 'a loaded page is not requested again')
})

t.test('after a failure nothing is requested until the reader tries again', async (t) => {
  const { rows, asked, errors, give, fail } = held()
  rows.requestRow(0)
  await fail(0)
  t.match(errors, [{ message: 'away' }])
  rows.requestRow(0)
  t.same(asked, [0])
  rows.retry()
  t.equal(errors.at(-1), undefined)
  rows.requestRow(0)
  await give(0)
  t.equal(rows.at(0), 'row 0')
})

t.test('rows after the end of a list that has become shorter no longer exist', async (t) => {
  const rows = new RowLoader<string>(2, async () => ['a'], () => {})
  t.equal(rows.at(1), undefined)
  rows.put(0, ['a'])
  t.equal(rows.at(0), 'a')
  t.equal(rows.at(1), null)
})

t.test('a closed loader requests nothing and reports nothing', async (t) => {
  const { rows, asked, give, changes } = held()
  rows.requestRow(0)
  rows.close()
  rows.requestRow(10)
  await give(0)
  t.same(asked, [0])
  t.equal(changes(), 0)
})
