import { AccessControl } from '../../../lib/access/access-control.js'
import { settingsOf as allSettingsOf } from '../../../lib/config/config.js'
import type { FileConfig } from '../../../lib/config/schema.js'
import type { BankKey } from '../../../lib/access/context.js'
import { BankDirectory, LiveSettings, readFileSettings } from '../../../lib/operations/bank-directory.js'
import type { BankConfigChanges, BankConfigOutcome, BankConfigStore } from '../../../lib/stores/bank-configs.js'
import { InMemoryVectorStore } from '../../../lib/stores/in-memory/store.js'
import { storeWithServiceErrors } from '../../../lib/stores/service-errors.js'

export const key = (bankId: string): BankKey => ({ tenantId: null, bankId })

/** A store whose documents the test writes, and which answers when the test says so. */
export class ScriptedStore implements BankConfigStore {
  readonly documents = new Map<string, string>()
  /** The banks of each read. */
  readonly reads: string[][] = []
  /** The revisions that it was asked for changes since. */
  readonly asked: number[] = []
  changes: () => Promise<BankConfigChanges> = async () => ({ revision: 1, banks: [] })
  /** What a read waits for before it answers with what it has found. */
  gate: Promise<void> = Promise.resolve()

  constructor (readonly isShared = true) {}

  async read (banks: readonly BankKey[]): ReturnType<BankConfigStore['read']> {
    this.reads.push(banks.map(({ bankId }) => bankId))
    const found = banks.flatMap((bank) => {
      const document = this.documents.get(bank.bankId)
      return document === undefined ? [] : [{ bank, config: { revision: 1, document, updatedAt: 0, updatedBy: null } }]
    })
    await this.gate
    return found
  }

  async write (): Promise<BankConfigOutcome> {
    throw new Error('nothing is written')
  }

  async history (): ReturnType<BankConfigStore['history']> {
    return []
  }

  async changedSince (revision: number): Promise<BankConfigChanges> {
    this.asked.push(revision)
    return await this.changes()
  }

  set (bankId: string, tokens: number): void {
    this.documents.set(bankId, JSON.stringify({ homeostasis: { recall_max_tokens: tokens } }))
  }
}

/** As the directory of a gateway receives it. */
function withServiceErrors (bankConfigs: BankConfigStore): BankConfigStore {
  return storeWithServiceErrors(Object.assign(new InMemoryVectorStore(), { bankConfigs })).bankConfigs!
}

/** A directory on such a store, with a timer that the test moves. */
export function setUp ({ isShared = true, file = {} } = {}) {
  const store = new ScriptedStore(isShared)
  const access = new AccessControl({ enabled: false, defaultPolicy: 'open', ownerPatterns: [], grants: [] })
  const settingsOf = (content: FileConfig) => readFileSettings({ file: content, settings: allSettingsOf(content) }, {
    semanticWeight: 0, hasReranker: false, canExtract: false,
  })
  const live = new LiveSettings(settingsOf(file), access)
  const warnings: string[] = []
  let now = 10_000
  const directory = new BankDirectory({
    configs: withServiceErrors(store), live, access, timer: () => now, warn: (message) => { warnings.push(message) },
  })
  return {
    store,
    directory,
    live,
    settingsOf,
    warnings,
    advance: (milliseconds: number) => { now += milliseconds },
    /** The limits that hold for these banks. */
    tokens: async (...bankIds: string[]) =>
      (await directory.resolve(bankIds.map(key))).map(({ settings }) => settings.homeostasis.recall_max_tokens),
  }
}

/** A promise that the test settles. */
export function held<T> () {
  let settle: (value: T) => void = () => {}
  let fail: (error: Error) => void = () => {}
  const promise = new Promise<T>((resolve, reject) => { [settle, fail] = [resolve, reject] })
  return { promise, settle, fail }
}
