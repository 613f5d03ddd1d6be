import t from 'tap'
import { BankQueue } from '../../../lib/memory/bank-queue.js'
import { latch } from '../../routes/reflecting.js'

const HOME = { tenantId: null, bankId: 'home' }

t.test('work that waits too long for its turn is refused and never begins, and later work has its turn', async (t) => {
  const queue = new BankQueue(4, 1)
  const first = latch()
  const did: string[] = []
  const running = queue.inTurn(HOME, async () => {
    did.push('first begins')
    await first.opened
    did.push('first ends')
  })
  await t.rejects(queue.inTurn(HOME, async () => { did.push('second') }), { code: 'server_busy' })
  first.open()
  await running
  t.equal(await queue.inTurn(HOME, async () => 'third'), 'third')
  t.strictSame(did, ['first begins', 'first ends'])
})

t.test('the caller\'s own signal ends the wait with its reason', async (t) => {
  const queue = new BankQueue(4)
  const first = latch()
  const running = queue.inTurn(HOME, async () => { await first.opened })
  const leaving = new AbortController()
  const waiting = queue.inTurn(HOME, async () => {}, leaving.signal)
  leaving.abort(new Error('left'))
  await t.rejects(waiting, { message: 'left' })
  first.open()
  await running
})
