import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import {
  compileGrant, type AccessControl, type Permission, type AccessSettings, type CompiledGrant,
} from '../access/access-control.js'
import { bankKeyString, bankOf, identityOf, type BankKey, type RequestContext } from '../access/context.js'
import { PrincipalTrust } from '../access/principal-trust.js'
import type { Timer } from '../base/deadline.js'
import { giveWay, isDue, mapGivingWay } from '../base/event-loop.js'
import { KeyedQueue } from '../base/keyed-queue.js'
import { atCapacity } from '../base/service-error.js'
import type { Config, Settings } from '../config/config.js'
import { ProviderError } from '../config/providers/registry.js'
import type { BankConfiguration, BankSettings, FileConfig } from '../config/schema.js'
import type { BankConfig, BankConfigStore } from '../stores/bank-configs.js'
import { storeUnavailableError } from '../stores/service-errors.js'
import { strictestLimits, OperatorSettings, type Capabilities } from './operator-settings.js'

/** The parsed settings of the configuration file that can change while the process runs. */
interface FileSettings extends Pick<Settings, 'bankGrants' | 'degradedMode' | 'prices'> {
  operator: OperatorSettings
  access: AccessSettings
  trust: PrincipalTrust
  /** Longest possible deadline of a reflect on any bank, in milliseconds. */
  maxReflectMs: number
}

/** @throws ProviderError for settings with which no recall can work */
export function readFileSettings (
  { file, settings }: Pick<Config, 'file' | 'settings'>, capabilities: Capabilities,
): FileSettings {
  const operator = new OperatorSettings(file, capabilities)
  const problems = operator.problems()
  if (problems.length > 0) throw new ProviderError(problems.join('\n'))
  const { access, principalTrust, bankGrants, degradedMode, prices } = settings
  return {
    operator,
    access,
    trust: new PrincipalTrust(principalTrust),
    bankGrants,
    degradedMode,
    prices,
    maxReflectMs: maxReflectTime(file, operator.global),
  }
}

function maxReflectTime ({ banks = {}, profiles = {} }: FileConfig, { reflect }: BankSettings): number {
  const sections = [...Object.values(banks), ...Object.values(profiles)]
  return Math.max(reflect.timeout_ms, ...sections.map((section) => section.reflect?.timeout_ms ?? 0))
}

/** The settings of the file in force; a reload replaces all of them at once. */
export class LiveSettings {
  readonly #access: AccessControl
  #current: FileSettings

  constructor (settings: FileSettings, access: AccessControl) {
    this.#access = access
    this.#current = settings
  }

  get current (): FileSettings {
    return this.#current
  }

  replace (settings: FileSettings): void {
    this.#current = settings
    this.#access.replace(settings.access)
  }
}

/** A bank during one operation, with the settings that apply to it and the grants of its administrators. */
export interface OpenBank {
  key: BankKey
  settings: BankSettings
  grants: readonly CompiledGrant[]
}

/** Whether a caller, who may do something else with the bank, may also read it. */
export function mayRead (
  { access }: { access: AccessControl }, context: RequestContext, { key, grants }: OpenBank,
): boolean {
  return access.decide(context, 'read', key.bankId, grants).allowed
}

/** Resolves a bank from the settings of the file and its own configuration. */
export function resolveBank (
  key: BankKey, configuration: BankConfiguration | undefined, { operator, bankGrants }: FileSettings,
): OpenBank {
  const { access = [], ...own } = configuration ?? {}
  const grants = (bankGrants ? access : []).map(({ principal, permissions }, index) => compileGrant({
    bankId: key.bankId, principal, permissions, origin: `configuration of the bank, access[${index}]`,
  }))
  // Banks without a configuration share their settings.
  return { key, settings: operator.of(key.bankId, configuration && own), grants }
}

/**
 * The settings for a request on several banks: those common to all of them, or else the file's global ones, within the
 * limits of each bank.
 */
export function commonSettings (
  banks: readonly OpenBank[], { operator }: FileSettings,
): Pick<BankSettings, 'retrieval' | 'reflect'> {
  const [first, ...others] = banks.map(({ settings }) => settings)
  if (first === undefined) return operator.global
  if (others.every((other) => isRankedAlike(first, other))) return first
  const common = strictestLimits(operator.global, [first, ...others])
  const { lexical, semantic } = common.retrieval.weights
  if (lexical + semantic > 0) return common
  // The file uses only the semantic strategy, which a bank has disabled: its weights keep the strategy disabled and
  // still find memories.
  const lexicalOnly = [first, ...others].find(({ retrieval }) => retrieval.weights.semantic === 0) ?? operator.global
  return { ...common, retrieval: { ...common.retrieval, weights: lexicalOnly.retrieval.weights } }
}

function isRankedAlike (one: BankSettings, other: BankSettings): boolean {
  return one === other || isDeepStrictEqual([one.retrieval, one.reflect], [other.retrieval, other.reflect])
}

interface BankDirectoryOptions {
  /** Of a store with ServiceErrors (`storeWithServiceErrors`). Undefined for one without configuration of banks. */
  configs: BankConfigStore | undefined
  live: LiveSettings
  access: AccessControl
  timer: Timer
  /** Writes to the operator's log. */
  warn: (message: string) => void
}

interface Entry {
  stored: StoredConfig | undefined
  /** Resolved when the bank is first used. */
  resolved?: { bank: OpenBank, settings: FileSettings }
}

/** Approximate size of the cache in bytes: some 70,000 banks without a configuration, or 128 with the largest. */
const CACHE_BYTES = 64 * 1024 * 1024
/** Bytes of a cached bank without a configuration of its own. */
const ENTRY_BYTES = 700
/** Bytes for each character of a configuration, with the grants and settings derived from it. */
const BYTES_PER_CHARACTER = 16
/** From this age, in milliseconds, the cache of a shared store is updated in the background. */
const STALE_MS = 1000
/** From this age a request waits for the update. By contract a change is in force everywhere within two seconds. */
const EXPIRED_MS = 1800

/**
 * Determines for every operation the settings of a bank, and decides access: it resolves the file's settings and the
 * bank's own configuration. Configurations are cached. If other processes write to the store, the cache queries which
 * banks have changed, at most once a second and only while there are requests; a request never uses data that is more
 * than two seconds old.
 */
export class BankDirectory {
  readonly #options: BankDirectoryOptions
  readonly #entries = new LRUCache<string, Entry>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ stored }, id) => {
      const own = stored === undefined ? 0 : BYTES_PER_CHARACTER * JSON.stringify(stored.configuration).length
      return ENTRY_BYTES + id.length + own
    },
  })

  /** Reads in progress. One that a change invalidates is removed, so that its result is not cached. */
  readonly #reading = new Map<string, Promise<StoredConfig | undefined>>()
  #revision = -1
  #syncedAt = -Infinity
  #sync: Promise<Error | undefined> | undefined
  /** Whether the last query for changes failed. */
  #isFailing = false

  constructor (options: BankDirectoryOptions) {
    this.#options = options
  }

  /**
   * The banks of a request, if the caller has the permission on all of them.
   * @throws ServiceError access_denied for the first bank without it; dependency_unavailable
   */
  async open (context: RequestContext, permission: Permission, bankIds: readonly string[]): Promise<OpenBank[]> {
    const keys = bankIds.map((bankId) => bankOf(context, bankId))
    const banks = this.#known(keys) ?? await this.resolve(keys)
    for (const { key, grants } of banks) this.#options.access.require(context, permission, key.bankId, grants)
    // What is cached is for all callers.
    return banks.map((bank, index) => ({ ...bank, key: keys[index]! }))
  }

  /** @throws ServiceError as `open` */
  async openOne (context: RequestContext, permission: Permission, bankId: string): Promise<OpenBank> {
    const [bank] = await this.open(context, permission, [bankId])
    return bank!
  }

  /**
   * The same without a check of access.
   * @throws ServiceError dependency_unavailable
   */
  async resolve (keys: readonly BankKey[]): Promise<OpenBank[]> {
    const { configs, live } = this.#options
    if (configs === undefined) return keys.map((key) => resolveBank(key, undefined, live.current))
    if (configs.isShared) await this.#ensureFresh(configs)
    const ids = keys.map(bankKeyString)
    const found = ids.map((id) => this.#entries.get(id))
    const missing = keys.filter((_, index) => found[index] === undefined)
    const read = missing.length === 0
      ? new Map<string, StoredConfig | undefined>()
      : await this.#read(configs, missing)
    const banks: OpenBank[] = []
    for (const [index, key] of keys.entries()) {
      const id = ids[index]!
      const entry = found[index] ?? this.#entryOf(id, read.get(id))
      if (entry.resolved?.settings !== live.current) {
        if (isDue()) await giveWay()
        const settings = live.current
        entry.resolved = { settings, bank: resolveBank(identityOf(key), entry.stored?.configuration, settings) }
      }
      banks.push(entry.resolved.bank)
    }
    return banks
  }

  /** The banks, if all of them are cached and resolved and need no query. */
  #known (keys: readonly BankKey[]): OpenBank[] | undefined {
    const { configs, live } = this.#options
    if (configs?.isShared !== false) return undefined
    const banks: OpenBank[] = []
    for (const key of keys) {
      const resolved = this.#entries.get(bankKeyString(key))?.resolved
      if (resolved?.settings !== live.current) return undefined
      banks.push(resolved.bank)
    }
    return banks
  }

  /** Removes a bank from the cache, because this process changed it. */
  invalidate (key: BankKey): void {
    const id = bankKeyString(key)
    this.#entries.delete(id)
    this.#reading.delete(id)
  }

  /**
   * The cache entry of a configuration just read, or a new one for this caller alone if a change has invalidated it.
   */
  #entryOf (id: string, stored: StoredConfig | undefined): Entry {
    const kept = this.#entries.get(id)
    return kept !== undefined && kept.stored === stored ? kept : { stored }
  }

  async #read (
    configs: BankConfigStore, keys: readonly BankKey[],
  ): Promise<Map<string, StoredConfig | undefined>> {
    const fresh = keys.filter((key) => !this.#reading.has(bankKeyString(key)))
    if (fresh.length > 0) {
      const batch = configs.read(fresh).then(async (found) => await parseAll(found))
      for (const key of fresh) this.#keep(key, batch.then((found) => found.get(bankKeyString(key))))
    }
    const waited = keys.map(async (key) => [bankKeyString(key), await this.#reading.get(bankKeyString(key))!] as const)
    return new Map(await Promise.all(waited))
  }

  #keep (key: BankKey, reading: Promise<StoredConfig | undefined>): void {
    const id = bankKeyString(key)
    this.#reading.set(id, reading)
    const done = (stored: StoredConfig | undefined, failed: boolean) => {
      if (this.#reading.get(id) !== reading) return
      this.#reading.delete(id)
      if (!failed) this.#entries.set(id, { stored })
    }
    reading.then((stored) => { done(stored, false) }, () => { done(undefined, true) })
  }

  async #ensureFresh (configs: BankConfigStore): Promise<void> {
    if (this.#age < STALE_MS) return
    if (this.#age < EXPIRED_MS) {
      void this.#startSync(configs)
      return
    }
    const joins = this.#sync !== undefined
    const first = await this.#startSync(configs)
    // A query in progress may have started before the request and be too old; the next one starts after it.
    const last = joins && this.#age >= EXPIRED_MS ? await this.#startSync(configs) : first
    if (last !== undefined) throw last
  }

  get #age (): number {
    return this.#options.timer() - this.#syncedAt
  }

  /**
   * Queries for changes, or waits for the query in progress.
   * @returns its error, undefined on success
   */
  async #startSync (configs: BankConfigStore): Promise<Error | undefined> {
    return await (this.#sync ??= this.#synchronize(configs).then(() => {
      this.#isFailing = false
      return undefined
    }, (cause: unknown) => {
      const error = cause instanceof Error ? cause : new Error(String(cause))
      // Every request queries an unavailable store; a single log line reports it.
      if (!this.#isFailing) {
        this.#options.warn(`The configuration of banks could not be brought up to date: ${error.message}`)
      }
      this.#isFailing = true
      return error
    }).finally(() => { this.#sync = undefined }))
  }

  async #synchronize (configs: BankConfigStore): Promise<void> {
    const startedAt = this.#options.timer()
    const { revision, banks } = await configs.changedSince(this.#revision)
    for (const bank of banks ?? []) this.invalidate(bank)
    if (banks === undefined || this.#revision === -1) {
      this.#entries.clear()
      this.#reading.clear()
    }
    this.#revision = revision
    this.#syncedAt = startedAt
  }
}

/** @throws ServiceError when something has damaged what the store returns, so that it cannot be parsed */
async function parseAll (
  found: Awaited<ReturnType<BankConfigStore['read']>>,
): Promise<Map<string, StoredConfig>> {
  try {
    return new Map(await mapGivingWay(found, ({ bank, config }) => (
      [bankKeyString(bank), readStored(config)] as const
    )))
  } catch (cause) {
    throw storeUnavailableError(cause)
  }
}

/** The configuration of a bank in the store, parsed. */
export interface StoredConfig extends Omit<BankConfig, 'document'> {
  configuration: BankConfiguration
  etag: string
}

/** @throws SyntaxError for a document that is not JSON, which is never stored */
export function readStored (config: BankConfig): StoredConfig {
  const { document, ...rest } = config
  return { ...rest, configuration: JSON.parse(document ?? '{}') as BankConfiguration, etag: etagOf(config) }
}

/**
 * The entity tag (RFC 9110, section 8.8.3) of a configuration: a digest of what its admins can read anyway. Revisions
 * are counted over all banks, so a tag with one, even hashed, would tell how often other tenants change theirs.
 *
 * Two changes have the same tag only if the same principal sets the same configuration twice within a millisecond. A
 * change that is based on one of them loses nothing of the other.
 */
function etagOf ({ document, updatedAt, updatedBy }: Omit<BankConfig, 'revision'>): string {
  const digest = createHash('sha256').update(JSON.stringify([updatedAt, updatedBy, document])).digest('base64url')
  return `"${digest.slice(0, 22)}"`
}

/** How long a call waits: while it does, it holds its request in memory. */
const MAX_WAIT_MS = 5 * 60_000

/**
 * Serializes writes to each bank, by `bankKeyString`.
 * @param maxWaiting maximum number of waiting calls for one bank; each holds its request in memory
 */
export function makeBankQueue (maxWaiting: number): KeyedQueue {
  return new KeyedQueue({
    maxWaiting,
    waitMs: MAX_WAIT_MS,
    queueFullError: () => (
      atCapacity('server_busy', `More than ${maxWaiting} writes wait for this bank; try again`)
    ),
    timeoutError: () => atCapacity('server_busy', 'Other writes to this bank take too long; try again'),
  })
}
