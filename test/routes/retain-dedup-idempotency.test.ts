import t from 'tap'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import {
  type IdempotencyRecord, type IdempotentWrite, recordText, type VectorStore,
} from '../../lib/stores/vector-store.js'
import { testApp } from '../helpers/app.js'
import { dedupConfig, NEAR_DUPLICATE, retain, retainBatch, TEXT, textsOf } from './retain-dedup-support.js'

/** An in-memory store that stores idempotency records, as the durable stores do. */
class RecordingStore extends InMemoryVectorStore {
  readonly records = new Map<string, IdempotencyRecord>()

  async findIdempotencyRecord (_tenantId: unknown, key: string): Promise<IdempotencyRecord | undefined> {
    return this.records.get(key)
  }

  #record<Outcome> (idempotency: IdempotentWrite | undefined, outcome: Outcome): Outcome {
    if (idempotency !== undefined) {
      this.records.set(idempotency.key, {
        requestFingerprint: idempotency.requestFingerprint, text: recordText(idempotency, outcome),
      })
    }
    return outcome
  }

  override async insert (...call: Parameters<VectorStore['insert']>): ReturnType<VectorStore['insert']> {
    return this.#record(call[2].idempotency, await super.insert(...call))
  }

  override async import (...call: Parameters<VectorStore['import']>): ReturnType<VectorStore['import']> {
    return this.#record(call[2].idempotency, await super.import(...call))
  }

  override async close (): Promise<void> {}
}

for (const action of ['skip', 'warn', 'update'] as const) {
  t.test(`${action}: a repeated request with an idempotency key gets the same answer, also ` +
    'after a restart', async (t) => {
    const store = new RecordingStore()
    const home = await testApp(t, { file: dedupConfig(action) }, { store })
    await home.retain('home', TEXT)
    const headers = { 'idempotency-key': 'k-1' }
    const first = await retain(home, NEAR_DUPLICATE, {}, headers)
    const batch = await retainBatch(home, [`${NEAR_DUPLICATE} early`, 'It will rain.'], { 'idempotency-key': 'k-2' })
    const stored = await textsOf(home)
    t.strictSame(await retain(home, NEAR_DUPLICATE, {}, headers), first)
    t.equal(store.records.size, 2)
    await home.app.close()

    const later = await testApp(t, { file: dedupConfig(action) }, { store })
    t.strictSame(await retain(later, NEAR_DUPLICATE, {}, headers), first)
    t.strictSame(
      await retainBatch(later, [`${NEAR_DUPLICATE} early`, 'It will rain.'], { 'idempotency-key': 'k-2' }), batch,
    )
    t.strictSame(await textsOf(later), stored, 'and nothing is stored again')
  })
}
