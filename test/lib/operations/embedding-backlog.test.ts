import t from 'tap'
import type { BankKey } from '../../../lib/access/context.js'
import { backlogEntry, EmbeddingBacklog } from '../../../lib/operations/embedding-backfill.js'

function entryOf (bankId: string, memoryId: string, bank: BankKey = { tenantId: null, bankId }) {
  return backlogEntry(bank, { memoryId, text: 'x', speaker: null }, { fingerprint: memoryId, passages: [] })
}

t.test('a batch has the memories of one bank, in the order of arrival', async (t) => {
  const backlog = new EmbeddingBacklog()
  for (const [bank, id] of [['a', '1'], ['b', '2'], ['a', '3'], ['c', '4'], ['b', '5']] as const) {
    backlog.add(entryOf(bank, id))
  }
  backlog.delete(entryOf('c', '4').key)
  const failed = { ...entryOf('b', '6'), successesAtLastTry: 0 }
  backlog.putBack(failed)
  backlog.add(entryOf('b', '7'))
  const taken: string[][] = []
  while (backlog.size > 0) taken.push(backlog.take(false).map(({ memoryId }) => memoryId))
  t.strictSame(taken, [['1', '3'], ['2', '5', '7'], ['6']])
  t.strictSame(backlog.take(false), [])
})

t.test('taking a batch examines no memories of other banks', async (t) => {
  const backlog = new EmbeddingBacklog()
  const COUNT = 1000
  let examined = 0
  for (let index = 0; index < COUNT; index++) {
    const key = { tenantId: null, get bankId () { examined++; return `bank ${index}` } }
    backlog.add(entryOf('', String(index), key))
  }
  examined = 0
  for (let index = 0; index < COUNT; index++) t.equal(backlog.take(false)[0]?.memoryId, String(index))
  t.ok(examined <= 4 * COUNT, `${examined} looks at the bank of a memory`)
})
