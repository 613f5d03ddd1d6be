import type { Test } from 'tap'
import { BANK_CONFIG_HISTORY } from '../../../lib/stores/bank-configs.js'
import { newMemories, newMemory, NOW } from '../../helpers/memories.js'
import { change, configTests, descriptions, home, inForce, UNTOUCHED } from './bank-config-setup.js'
import { bank, listAll, REMOVE, texts, type OpenStore } from './setup.js'

/** The page that has a whole history. */
const WHOLE = { limit: BANK_CONFIG_HISTORY }

/** Removal and import of banks, for stores that keep their configuration. */
export function removedBanksContract (t: Test, open: OpenStore): void {
  const test = configTests(t, open)

  test('a bank is removed with its memories, its configuration and ' +
    'its history', async (t, { store, configs, removeBank }) => {
    const other = bank('other')
    for (const key of [home, other]) {
      await store.insert(
        key, await newMemories(['one', 'two'], { documentId: 'letter', vectors: [[1, 0, 0, 0]] }), { now: NOW },
      )
      await configs.write(key, change('first'))
      await configs.write(key, change('second'))
    }
    const { revision } = await configs.changedSince(-1)
    t.strictSame(await removeBank(home, NOW), { memoryCount: 2, configRemoved: true })
    t.strictSame(await listAll(store, home), [])
    t.strictSame(await configs.read([home]), [])
    t.strictSame(await configs.history(home, WHOLE), [])
    t.strictSame((await store.listBanks({ now: NOW, limit: 10 })).map(({ bankId }) => bankId), ['other'])
    t.equal((await listAll(store, other)).length, 2)
    t.equal((await configs.history(other, WHOLE)).length, 2)
    const changes = await configs.changedSince(revision)
    t.ok(changes.revision > revision)
    t.strictSame(changes.banks, [home], 'others see the change')
    t.strictSame(await removeBank(home, NOW), { memoryCount: 0, configRemoved: false })
    t.strictSame(
      await configs.changedSince(changes.revision), { revision: changes.revision, banks: [] },
      'there was no change to see',
    )
    const again = await configs.write(home, change('again', { expected: 0 }))
    t.ok(again.revision > changes.revision, 'revisions continue to increase')
    t.strictSame(descriptions(await configs.history(home, WHOLE)), ['again'])
  })

  test('a bank of only memories, configuration or history is removed', async (t, { store, configs, removeBank }) => {
    await store.insert(bank('memories'), await newMemories(['one', 'two', 'three']), { now: NOW })
    await store.insert(bank('memories'), [await newMemory('brief', { expiresAt: NOW + 1 })], { now: NOW })
    await configs.write(bank('configuration'), change('x'))
    await configs.write(bank('history'), change('x'))
    await configs.write(bank('history'), change(null))
    const { revision } = await configs.changedSince(-1)
    t.strictSame(
      await removeBank(bank('memories'), NOW + 1), { memoryCount: 3, configRemoved: false },
      'expired memories are not counted',
    )
    t.strictSame(await removeBank(bank('history'), NOW), { memoryCount: 0, configRemoved: false })
    t.strictSame(await configs.history(bank('history'), WHOLE), [])
    t.strictSame(await configs.changedSince(revision), { revision, banks: [] })
    t.strictSame(await removeBank(bank('configuration'), NOW), { memoryCount: 0, configRemoved: true })
    t.strictSame((await configs.changedSince(revision)).banks, [bank('configuration')])
  })

  test('a configuration outlives the memories of its bank', async (t, { store, configs }) => {
    await store.insert(home, await newMemories(['one']), { now: NOW })
    const { revision } = await configs.write(home, change('stays'))
    await store.remove(home, { kind: 'all' }, REMOVE)
    t.strictSame(await inForce(configs, home), { revision, ...change('stays') })
    t.strictSame(await store.listBanks({ now: NOW, limit: 10 }), [], 'it creates no bank with memories')
  })

  test('an import sets the configuration that it is given, also without memories', async (t, { store, configs }) => {
    t.strictSame(
      await store.import(
        home, await newMemories(['one', 'two']), { now: NOW, onConflict: 'skip', config: change('imported') },
      ),
      { imported: 2, skipped: 0, overwritten: 0 },
    )
    const first = (await inForce(configs, home))!
    t.strictSame(first, { revision: first.revision, ...change('imported') })
    await store.import(home, await newMemories(['three']), { now: NOW, onConflict: 'skip' })
    t.strictSame(await inForce(configs, home), first)
    t.strictSame(
      await store.import(home, [], { now: NOW, onConflict: 'overwrite', config: change('alone') }), UNTOUCHED,
    )
    t.strictSame((await configs.changedSince(first.revision)).banks, [home])
    t.strictSame(await store.import(home, [], { now: NOW, onConflict: 'skip', config: change(null) }), UNTOUCHED)
    t.strictSame(await configs.read([home]), [])
    t.strictSame(descriptions(await configs.history(home, WHOLE)), [null, 'alone', 'imported'])
    t.strictSame(texts(await listAll(store, home)).sort(), ['one', 'three', 'two'])
  })

  test('an import that fails leaves no configuration behind', async (t, { store, configs }) => {
    const [standing] = await newMemories(['standing'], { trust: 'trusted' })
    await store.insert(home, [standing!], { now: NOW })
    const broken = await newMemory('broken', { vectors: [[NaN, 0, 0, 0]] })
    await t.rejects(
      store.import(home, [await newMemory('fresh'), broken], { now: NOW, onConflict: 'skip', config: change('x') }),
    )
    await t.rejects(
      store.import(
        home, [{ ...standing!, trust: 'suspect' }], { now: NOW, onConflict: 'revise', config: change('x') },
      ),
      { name: 'LowerTrustError' },
    )
    t.strictSame(await configs.read([home]), [])
    t.strictSame(await configs.history(home, WHOLE), [])
    t.strictSame(await configs.changedSince(-1), { revision: 0, banks: [] })
    t.strictSame(texts(await listAll(store, home)), ['standing'])
  })

  test('an import whose key was used meanwhile keeps the configuration of the first', async (t, { store, configs }) => {
    if (store.findIdempotencyRecord === undefined) return
    const idempotency = { key: 'a'.repeat(64), requestFingerprint: 'f', context: 'null' }
    await store.import(home, [], { now: NOW, onConflict: 'skip', idempotency, config: change('first') })
    t.not(await store.findIdempotencyRecord(home, idempotency.key, NOW), undefined)
    await t.rejects(
      store.import(home, [], { now: NOW, onConflict: 'skip', idempotency, config: change('second') }),
      { name: 'IdempotencyKeyTaken' },
    )
    t.strictSame(descriptions(await configs.history(home, WHOLE)), ['first'])
  })
}
