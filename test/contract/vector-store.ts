import t, { type Test } from 'tap'
import type { VectorStore } from '../../lib/stores/vector-store.js'
import { bankConfigsContract } from './vector-store/bank-configs.js'
import { browsingContract } from './vector-store/browsing.js'
import { conversationsContract } from './vector-store/conversations.js'
import { contextContract } from './vector-store/context.js'
import { derivedContract } from './vector-store/derived.js'
import { expiringContract } from './vector-store/expiring.js'
import { filteringContract } from './vector-store/filtering.js'
import { idempotencyContract } from './vector-store/idempotency.js'
import { importingContract } from './vector-store/importing.js'
import { insertingContract } from './vector-store/inserting.js'
import { lateVectorsContract } from './vector-store/late-vectors.js'
import { lexicalContract } from './vector-store/lexical.js'
import { poolContract } from './vector-store/pool.js'
import { proposalsContract } from './vector-store/proposals.js'
import { readingContract } from './vector-store/reading.js'
import { removedBanksContract } from './vector-store/removed-banks.js'
import { filteredRemovingContract } from './vector-store/removing-filtered.js'
import { revisingContract } from './vector-store/revising.js'
import { removingContract } from './vector-store/removing.js'
import { replacingContract } from './vector-store/replacing.js'
import { semanticContract } from './vector-store/semantic.js'
import { separationContract } from './vector-store/separation.js'
import type { OpenStore } from './vector-store/setup.js'
import { trustContract } from './vector-store/trust.js'
import { usageContract } from './vector-store/usage.js'
import { notesContract } from './vector-store/notes.js'
import { withoutDocumentContract } from './vector-store/without-document.js'

const CONTRACT: Array<[about: string, part: (t: Test, open: OpenStore, tolerance: number) => void]> = [
  ['inserting', insertingContract],
  ['separation', separationContract],
  ['filtering', filteringContract],
  ['lexical search', lexicalContract],
  ['context', contextContract],
  ['context without documents', withoutDocumentContract],
  ['notes and articles', notesContract],
  ['the pool of a search', poolContract],
  ['semantic search', semanticContract],
  ['late vectors', lateVectorsContract],
  ['reading', readingContract],
  ['browsing', browsingContract],
  ['conversations', conversationsContract],
  ['removing', removingContract],
  ['removing by filters', filteredRemovingContract],
  ['expiring', expiringContract],
  ['importing', importingContract],
  ['replacing documents', replacingContract],
  ['superseding and revising', revisingContract],
  ['facts and extractions', derivedContract],
  ['proposals', proposalsContract],
  ['idempotency', idempotencyContract],
  ['trust', trustContract],
  ['configuration of banks', bankConfigsContract],
  ['removal and import of banks with a configuration', removedBanksContract],
  ['usage', usageContract],
]

export interface ContractOptions {
  /**
   * How far a cosine may be from the exact one: what rounding vectors to the store's precision costs. Default: that of
   * 32 bits.
   */
  tolerance?: number
}

/**
 * What every implementation of VectorStore must pass.
 * @param makeStore makes an empty store that shares nothing with those it made before; it takes embeddings of
 *   DIMENSIONS (vector-store/setup.ts) numbers. Each is closed when its test ends; what else there is to clean up
 *   (a schema, a folder) is for the maker's own teardown, which runs after the close.
 */
export function vectorStoreContract (
  name: string, makeStore: (t: Test) => Promise<VectorStore>, { tolerance = 1e-5 }: ContractOptions = {},
): void {
  const open: OpenStore = async (t) => {
    const store = await makeStore(t)
    t.teardown(async () => { await store.close() })
    return store
  }
  for (const [about, part] of CONTRACT) t.test(`${name}: ${about}`, async (t) => { part(t, open, tolerance) })
}
