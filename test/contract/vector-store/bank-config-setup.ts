import type { Test } from 'tap'
import type { BankKey } from '../../../lib/access/context.js'
import type { BankConfig, BankConfigChange, BankConfigStore } from '../../../lib/stores/bank-configs.js'
import type { RemovedBank, VectorStore } from '../../../lib/stores/vector-store.js'
import { NOW } from '../../helpers/memories.js'
import { bank, type OpenStore } from './setup.js'

export const home = bank('home')
export const UNTOUCHED = { imported: 0, skipped: 0, overwritten: 0 }

/** A change to a document that says `what`; null takes the configuration back. */
export function change (what: string | null, more: Partial<BankConfigChange> = {}): BankConfigChange {
  return {
    document: what === null ? null : JSON.stringify({ description: what }),
    updatedAt: NOW,
    updatedBy: 'user:ada',
    ...more,
  }
}

export async function inForce (configs: BankConfigStore, key: BankKey): Promise<BankConfig | undefined> {
  const [found, ...more] = await configs.read([key])
  if (more.length > 0) throw new Error('a bank has one configuration')
  return found?.config
}

export function descriptions (history: readonly BankConfig[]): Array<string | null> {
  return history.map(
    ({ document }) => document === null ? null : (JSON.parse(document) as { description: string }).description,
  )
}

export const names = (banks: readonly BankKey[] | undefined) => banks?.map(({ bankId }) => bankId).sort()

interface Opened {
  store: VectorStore
  configs: BankConfigStore
  removeBank: (key: BankKey, now: number) => Promise<RemovedBank>
}

type ConfigTest = (about: string, body: (t: Test, opened: Opened) => Promise<void>) => void

/** Tests of stores that keep the configuration of banks and remove banks; others have neither of the two. */
export function configTests (t: Test, open: OpenStore): ConfigTest {
  return (about, body) => {
    t.test(about, async (t) => {
      const store = await open(t)
      const configs = store.bankConfigs
      t.equal(store.removeBank === undefined, configs === undefined, 'a store that keeps configurations removes banks')
      if (configs === undefined) return
      await body(t, { store, configs, removeBank: async (key, now) => await store.removeBank!(key, now) })
    })
  }
}
