import { isDeepStrictEqual } from 'node:util'
import { compileGrant, type AccessControl, type AccessSettings, type CompiledGrant } from '../access/access-control.js'
import { PrincipalTrust } from '../access/principal-trust.js'
import type { BankSections } from '../config/bank-sections.js'
import type { BankConfiguration, FileConfig } from '../config/schema.js'
import { settingsOf, type Settings } from '../config/settings.js'
import type { BankKey } from '../identity/context.js'
import { tightest } from '../policy/ceilings.js'
import type { ResolvedBank } from '../policy/bank.js'
import { OperatorSettings, type Capabilities } from '../policy/settings.js'
import { ProviderError } from '../providers/registry.js'

/** What the configuration file says that can change while the process runs, ready for use. */
export interface FileSettings extends Pick<Settings, 'bankGrants' | 'degradedMode' | 'prices'> {
  operator: OperatorSettings
  access: AccessSettings
  trust: PrincipalTrust
  /** Milliseconds of the longest deadline that a reflect on any bank can have. */
  longestReflectMs: number
}

/** @throws ProviderError for what no recall could work with */
export function readFileSettings (file: FileConfig, capabilities: Capabilities): FileSettings {
  const operator = new OperatorSettings(file, capabilities)
  const problems = operator.problems()
  if (problems.length > 0) throw new ProviderError(problems.join('\n'))
  const { access, principalTrust, bankGrants, degradedMode, prices } = settingsOf(file)
  return {
    operator,
    access,
    trust: new PrincipalTrust(principalTrust),
    bankGrants,
    degradedMode,
    prices,
    longestReflectMs: longestReflect(file, operator.global),
  }
}

function longestReflect ({ banks = {}, profiles = {} }: FileConfig, { reflect }: BankSections): number {
  const sections = [...Object.values(banks), ...Object.values(profiles)]
  return Math.max(reflect.timeout_ms, ...sections.map((section) => section.reflect?.timeout_ms ?? 0))
}

/** The settings of the file that are in force; a reload puts others in their place, all at once. */
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

/** A bank as one operation finds it: which it is, what holds for it, and what its admins have granted. */
export interface OpenBank extends ResolvedBank {
  grants: readonly CompiledGrant[]
}

/** A bank under the settings of the file and its own configuration. */
export function resolveBank (key: BankKey, own: BankConfiguration | undefined, { operator, bankGrants }: FileSettings): OpenBank {
  if (own === undefined) return { key, settings: operator.of(key.bankId), grants: [] }
  const { access = [], ...sections } = own
  return { key, settings: operator.of(key.bankId, sections), grants: bankGrants ? compileOwnGrants(key.bankId, access) : [] }
}

function compileOwnGrants (bankId: string, access: NonNullable<BankConfiguration['access']>): CompiledGrant[] {
  return access.map(({ principal, permissions }, index) => compileGrant({ bankId, principal, permissions, origin: `configuration of the bank, access[${index}]` }))
}

/**
 * The sections that a request on several banks goes by: those that all of them share, else the file's for all banks, within the limits
 * of each bank.
 */
export function commonSections (banks: readonly OpenBank[], { operator }: FileSettings): Pick<BankSections, 'retrieval' | 'reflect'> {
  const [first, ...others] = banks.map(({ settings }) => settings)
  if (first === undefined) return operator.global
  if (others.every((settings) => settings === first || isDeepStrictEqual([settings.retrieval, settings.reflect], [first.retrieval, first.reflect]))) return first
  const { retrieval, reflect } = tightest(operator.global, [first, ...others])
  const { lexical, semantic } = retrieval.weights
  if (lexical + semantic > 0) return { retrieval, reflect }
  // The file searches by vectors alone and a bank has that off: its own weights find something and keep it off.
  const { weights } = [first, ...others].find((settings) => settings.retrieval.weights.semantic === 0)?.retrieval ?? operator.global.retrieval
  return { retrieval: { ...retrieval, weights }, reflect }
}
