import type { Test } from 'tap'
import {
  BANK_CONFIG_CHANGE_LIFETIME_MS, BANK_CONFIG_CHANGES, BANK_CONFIG_HISTORY,
} from '../../../lib/stores/bank-configs.js'
import { NOW } from '../../helpers/memories.js'
import { change, configTests, descriptions, home, inForce, names } from './bank-config-setup.js'
import { bank, type OpenStore } from './setup.js'

/** The page that has a whole history. */
const WHOLE = { limit: BANK_CONFIG_HISTORY }

/** For stores that keep the configuration of banks. */
export function bankConfigsContract (t: Test, open: OpenStore): void {
  const test = configTests(t, open)

  test('a configuration is read with its revision until another replaces it', async (t, { configs }) => {
    t.strictSame(await configs.read([home]), [])
    t.strictSame(await configs.history(home, WHOLE), [])
    const first = await configs.write(home, change('first "quoted" \u2028 ä 🦦 \u0000'))
    t.equal(first.changed, true)
    t.ok(first.revision > 0)
    t.strictSame(await configs.read([home]), [{
      bank: home,
      config: {
        revision: first.revision,
        document: JSON.stringify({ description: 'first "quoted" \u2028 ä 🦦 \u0000' }),
        updatedAt: NOW,
        updatedBy: 'user:ada',
      },
    }])
    const second = await configs.write(home, { document: '{}', updatedAt: NOW + 5, updatedBy: null })
    t.ok(second.revision > first.revision)
    t.strictSame(await inForce(configs, home), {
      revision: second.revision, document: '{}', updatedAt: NOW + 5, updatedBy: null,
    })
  })

  test('a read of many banks returns each existing configuration once and no other', async (t, { configs }) => {
    const banks = Array.from({ length: 40 }, (_, index) => bank(`bank-${index}`, index % 2 === 0 ? 'acme' : null))
    for (const key of banks.slice(0, 30)) await configs.write(key, change(key.bankId))
    await configs.write(banks[3]!, change(null))
    t.strictSame(await configs.read([]), [])
    const found = await configs.read([...banks, ...banks.slice(0, 2)])
    t.strictSame(
      found.map((each) => each.bank.bankId).sort(),
      banks.slice(0, 30).filter((_, index) => index !== 3).map(({ bankId }) => bankId).sort(),
    )
    for (const { bank: { bankId, tenantId }, config } of found) {
      t.strictSame(descriptions([config]), [bankId])
      t.equal(tenantId, banks.find((key) => key.bankId === bankId)!.tenantId)
    }
  })

  test('a change based on an old revision changes nothing and returns the current one', async (t, { configs }) => {
    const none = await configs.write(home, change('on nothing', { expected: 7 }))
    t.strictSame(none, { changed: false, revision: 0 })
    const first = await configs.write(home, change('first', { expected: 0 }))
    t.equal(first.changed, true)
    for (const expected of [0, first.revision - 1, first.revision + 1]) {
      for (const document of ['stale', null]) {
        t.strictSame(await configs.write(home, change(document, { expected })), {
          changed: false, revision: first.revision,
        })
      }
    }
    t.strictSame(
      await configs.changedSince(-1), { revision: first.revision, banks: [] }, 'a refused change is not in the history',
    )
    const second = await configs.write(home, change('second', { expected: first.revision }))
    t.equal(second.changed, true)
    t.strictSame(await configs.write(home, change('third', { expected: first.revision })), {
      changed: false, revision: second.revision,
    })
    t.strictSame(descriptions(await configs.history(home, WHOLE)), ['second', 'first'])
  })

  test('a removed configuration no longer exists, and its history contains the removal', async (t, { configs }) => {
    t.strictSame(
      await configs.write(home, change(null)), { changed: true, revision: 0 }, 'there is no configuration to remove',
    )
    t.strictSame(await configs.write(home, change(null, { expected: 0 })), { changed: true, revision: 0 })
    t.strictSame(await configs.history(home, WHOLE), [])
    t.strictSame(await configs.changedSince(-1), { revision: 0, banks: [] })
    const set = await configs.write(home, change('set'))
    t.strictSame(
      await configs.write(home, change(null, { expected: set.revision, updatedAt: NOW + 1, updatedBy: 'user:bob' })),
      { changed: true, revision: 0 },
    )
    t.strictSame(await configs.read([home]), [])
    const [taken, before] = await configs.history(home, WHOLE)
    t.strictSame(before, { revision: set.revision, ...change('set') })
    t.ok(taken!.revision > set.revision)
    t.strictSame(taken, { revision: taken!.revision, document: null, updatedAt: NOW + 1, updatedBy: 'user:bob' })
    t.strictSame(await configs.changedSince(set.revision), { revision: taken!.revision, banks: [home] })
    t.strictSame(
      await configs.write(home, change('stale', { expected: set.revision })), { changed: false, revision: 0 },
      'an old revision is never used again',
    )
    const again = await configs.write(home, change('again', { expected: 0 }))
    t.ok(again.revision > taken!.revision)
    t.strictSame(descriptions(await configs.history(home, WHOLE)), ['again', null, 'set'])
  })

  test('the history has the newest changes of its bank only, newest first', async (t, { configs }) => {
    const other = bank('other')
    await configs.write(other, change('of the other'))
    const revisions: number[] = []
    for (let index = 0; index < BANK_CONFIG_HISTORY + 5; index++) {
      revisions.push((await configs.write(home, change(`number ${index}`, { updatedAt: NOW + index }))).revision)
    }
    const history = await configs.history(home, WHOLE)
    t.equal(history.length, BANK_CONFIG_HISTORY)
    t.strictSame(history.map(({ revision }) => revision), revisions.toReversed().slice(0, BANK_CONFIG_HISTORY))
    t.strictSame(history[0], await inForce(configs, home))
    t.strictSame(await configs.history(home, { limit: 2 }), history.slice(0, 2))
    const before = history[1]!.revision
    t.strictSame(await configs.history(home, { limit: 3, before }), history.slice(2, 5))
    t.strictSame(await configs.history(home, { limit: 3, before: history.at(-1)!.revision }), [])
    t.strictSame(descriptions(history).at(-1), 'number 5')
    t.strictSame(descriptions(await configs.history(other, WHOLE)), ['of the other'])
  })

  test('the configurations of tenants are separate', async (t, { configs, removeBank }) => {
    const keys = [home, bank('home', 'acme'), bank('home', 'zeta')]
    for (const key of keys) await configs.write(key, change(`of ${key.tenantId}`))
    for (const key of keys) {
      t.strictSame(descriptions([(await inForce(configs, key))!]), [`of ${key.tenantId}`])
      t.strictSame(descriptions(await configs.history(key, WHOLE)), [`of ${key.tenantId}`])
    }
    const { revision } = await configs.changedSince(-1)
    await configs.write(keys[1]!, change(null))
    t.strictSame((await configs.changedSince(revision)).banks, [keys[1]])
    t.strictSame(await removeBank(keys[2]!, NOW), { memoryCount: 0, configRemoved: true })
    t.strictSame((await configs.read(keys)).map((found) => found.bank), [home])
    t.strictSame(await configs.history(keys[2]!, WHOLE), [])
    t.equal((await configs.history(home, WHOLE)).length, 1)
  })

  test('the banks that have changed since a revision are listed, once each', async (t, { configs }) => {
    t.strictSame(await configs.changedSince(-1), { revision: 0, banks: [] })
    t.strictSame(await configs.changedSince(0), { revision: 0, banks: [] })
    const revisions: number[] = []
    for (const name of ['a', 'b', 'a', 'c']) revisions.push((await configs.write(bank(name), change(name))).revision)
    t.strictSame(revisions, revisions.toSorted((a, b) => a - b))
    t.equal(new Set(revisions).size, 4)
    const newest = revisions[3]!
    for (const [since, banks] of [
      [0, ['a', 'b', 'c']], [revisions[0]!, ['a', 'b', 'c']], [revisions[1]!, ['a', 'c']], [revisions[2]!, ['c']],
      [newest, []], [-1, []],
    ] as const) {
      const { revision, banks: found } = await configs.changedSince(since)
      t.equal(revision, newest)
      t.strictSame(names(found), banks, `since ${since}`)
    }
    t.strictSame(
      await configs.changedSince(newest + 1), { revision: newest, banks: undefined },
      'a future revision gives no changes',
    )
  })

  test('too many changed banks are not listed', async (t, { configs }) => {
    const { revision } = await configs.write(bank('before'), change('before'))
    const keys = Array.from({ length: BANK_CONFIG_CHANGES }, (_, index) => bank(`bank-${index}`))
    for (let start = 0; start < keys.length; start += 50) {
      await Promise.all(keys.slice(start, start + 50).map(async (key) => await configs.write(key, change('x'))))
    }
    const all = await configs.changedSince(revision)
    t.equal(all.banks?.length, BANK_CONFIG_CHANGES)
    t.equal(new Set(names(all.banks)).size, BANK_CONFIG_CHANGES)
    t.strictSame(await configs.changedSince(revision - 1), { revision: all.revision, banks: undefined })
    await configs.write(bank('bank-0'), change('again'))
    t.equal(
      (await configs.changedSince(revision)).banks?.length, BANK_CONFIG_CHANGES,
      'a bank that has changed twice is listed once',
    )
  })

  test('changes are kept for a day at least, and earlier ones are reported as unknown', async (t, { configs }) => {
    const later = NOW + BANK_CONFIG_CHANGE_LIFETIME_MS
    const old = await configs.write(bank('old'), change('old'))
    const young = await configs.write(bank('young'), change('young', { updatedAt: NOW + 1 }))
    const onTime = await configs.write(bank('on-time'), change('on time', { updatedAt: later }))
    t.strictSame(names((await configs.changedSince(0)).banks), ['old', 'on-time', 'young'], 'not a millisecond less')
    const next = await configs.write(bank('next'), change('next', { updatedAt: later + 1 }))
    t.strictSame(await configs.changedSince(old.revision - 1), { revision: next.revision, banks: undefined })
    t.strictSame(names((await configs.changedSince(old.revision)).banks), ['next', 'on-time', 'young'])
    t.strictSame(names((await configs.changedSince(young.revision)).banks), ['next', 'on-time'])
    const last = await configs.write(bank('last'), change('last', { updatedAt: later * 2 }))
    t.ok(last.revision > next.revision)
    t.strictSame(names((await configs.changedSince(next.revision)).banks), ['last'])
    t.strictSame((await configs.changedSince(onTime.revision)).banks, undefined)
    t.strictSame(await configs.changedSince(last.revision), { revision: last.revision, banks: [] })
    t.equal((await configs.read([bank('old')])).length, 1, 'the configuration itself is kept')
    t.equal((await configs.history(bank('old'), WHOLE)).length, 1)
  })

  test('of many changes based on one revision exactly one is made', async (t, { configs }) => {
    let expected = 0
    for (let round = 0; round < 3; round++) {
      const outcomes = await Promise.all(Array.from({ length: 20 }, async (_, index) => (
        await configs.write(home, change(`${round}/${index}`, { expected }))
      )))
      const made = outcomes.filter(({ changed }) => changed)
      t.equal(made.length, 1)
      const config = (await inForce(configs, home))!
      t.equal(config.revision, made[0]!.revision)
      t.ok(outcomes.every(({ revision }) => revision === config.revision), 'the others get the current configuration')
      t.strictSame(descriptions([config]), [`${round}/${outcomes.findIndex(({ changed }) => changed)}`])
      t.equal((await configs.history(home, WHOLE)).length, round + 1)
      expected = config.revision
    }
  })

  test('concurrent changes of many banks all have different revisions', async (t, { configs }) => {
    const keys = Array.from({ length: 20 }, (_, index) => bank(`bank-${index}`))
    const outcomes = await Promise.all(keys.map(async (key) => await configs.write(key, change(key.bankId))))
    t.equal(new Set(outcomes.map(({ revision }) => revision)).size, keys.length)
    t.equal((await configs.changedSince(-1)).revision, Math.max(...outcomes.map(({ revision }) => revision)))
    t.strictSame((await configs.read(keys)).length, keys.length)
  })
}
