import { setTimeout as delay } from 'node:timers/promises'
import { runConcurrently, sendOk, NDJSON_TYPE, send } from '../client.js'
import { OWN_BANK, type Target } from '../target.js'
import { importPath, tinyImport } from '../texts.js'
import type { Input } from './input.js'

const EXPIRING = 20_000
const BANKS = 1000

/** When the memories of a target expire: a store on SQL takes longer to import them. */
const expiry = new WeakMap<Target, number>()

/** Much of what is allowed one by one. */
export const amounts: readonly Input[] = [
  {
    name: 'idempotency-bodies',
    about: '20 idempotency keys with bodies of 10 MiB, and each again',
    allowed: ['200', '409', '503'],
    run: async (target, tally) => {
      await runConcurrently(4, Array.from({ length: 40 }, (_, index) => index), async (index) => {
        const key = `k${index % 20}`
        const body = `{"bank_id":"${OWN_BANK}","content":"Note ${key}."${' '.repeat(10_485_000)}}`
        tally.add(await send(target, { path: '/v1/retain', headers: { 'idempotency-key': key }, body }))
      })
    },
  },
  {
    name: 'mass-expiry',
    about: `${EXPIRING} memories that expire in the same second, while the bank is read`,
    allowed: ['200', '503'],
    prepare: async (target) => {
      const at = Date.now() + (target.store === 'in_memory' ? 15_000 : 45_000)
      expiry.set(target, at)
      await sendOk(target, {
        path: importPath(),
        headers: NDJSON_TYPE,
        body: tinyImport(EXPIRING, `,"expires_at":"${new Date(at).toISOString()}"`),
      })
    },
    run: async (target, tally) => {
      await delay(Math.max(0, (expiry.get(target) ?? 0) - Date.now() - 500))
      for (const until = Date.now() + 4000; Date.now() < until;) {
        tally.add(
          await send(target, { path: '/v1/recall', body: JSON.stringify({ bank_id: OWN_BANK, query: '0000 0001' }) }),
        )
        tally.add(await send(target, { path: `/v1/banks/${OWN_BANK}` }))
      }
    },
  },
  {
    name: 'many-banks',
    about: `${BANKS} banks, and 50 lists of them at a time`,
    allowed: ['200', '503'],
    prepare: async (target) => {
      await runConcurrently(8, Array.from({ length: BANKS }, (_, index) => index), async (index) => {
        await sendOk(target, {
          path: '/v1/retain', principal: null, body: JSON.stringify({ bank_id: `many-${index}`, content: 'x' }),
        })
      })
    },
    run: async (target, tally) => {
      await Promise.all(Array.from(
        { length: 50 }, async () => { tally.add(await send(target, { path: '/v1/banks?limit=200', principal: null })) },
      ))
      tally.add(await send(target, { path: '/v1/admin/banks', principal: null }))
      const banks = Array.from({ length: 64 }, (_, index) => `many-${index}`)
      await Promise.all(Array.from(
        { length: 50 },
        async () => {
          tally.add(
            await send(target, { path: '/v1/recall', principal: null, body: JSON.stringify({ banks, query: 'x' }) }),
          )
        },
      ))
    },
  },
]
