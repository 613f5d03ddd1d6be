import { isDeepStrictEqual } from 'node:util'
import { compileGrant, type AccessControl, type AccessSettings, type CompiledGrant } from '../access/access-control.js'
import { PrincipalTrust } from '../access/principal-trust.js'
import type { BankSections } from '../config/bank-sections.js'
import type { Config } from '../config/config.js'
import type { BankConfiguration, FileConfig } from '../config/schema.js'
import type { Settings } from '../config/settings.js'
import type { BankKey } from '../identity/context.js'
import { tightest } from '../policy/ceilings.js'
import type { BankPolicy, ResolvedBank } from '../policy/bank.js'
import { OperatorSettings, type Capabilities } from '../policy/settings.js'
import { ProviderError } from '../providers/registry.js'
import { bankSettings, type BankSettings } from './bank-settings.js'

/** What the configuration file says that can change while the process runs, ready for use. */
export interface FileSettings extends Pick<Settings, 'bankGrants' | 'degradedMode' | 'prices'> {
  operator: OperatorSettings
  access: AccessSettings
  trust: PrincipalTrust
  /** Milliseconds of the longest deadline that a reflect on any bank can have. */
  longestReflectMs: number
}

/** @throws ProviderError for what no recall could work with */
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
  settings: BankSettings
  /** What the settings were made of. */
  sections: BankSections
  grants: readonly CompiledGrant[]
}

/** A bank under the settings of the file and its own configuration. */
export function resolveBank (
  key: BankKey, configuration: BankConfiguration | undefined, { operator, bankGrants }: FileSettings,
): OpenBank {
  const { access = [], ...own } = configuration ?? {}
  // The sections of a bank without a configuration are made once for all such banks.
  const sections = operator.of(key.bankId, configuration && own)
  const grants = bankGrants ? compileOwnGrants(key.bankId, access) : []
  return { key, settings: bankSettings(sections), sections, grants }
}

function compileOwnGrants (bankId: string, access: NonNullable<BankConfiguration['access']>): CompiledGrant[] {
  return access.map(({ principal, permissions }, index) => (
    compileGrant({ bankId, principal, permissions, origin: `configuration of the bank, access[${index}]` })
  ))
}

/**
 * The settings that a request on several banks goes by: those that all of them share, else the file's for all banks,
 * within the limits of each bank.
 */
export function commonSettings (
  banks: readonly OpenBank[], { operator }: FileSettings,
): Omit<BankSettings, keyof BankPolicy | 'tokenBudgets' | 'mission'> {
  const [first, ...others] = banks
  if (first === undefined) return bankSettings(operator.global)
  if (others.every((other) => isRankedAlike(first, other))) return first.settings
  const sections = banks.map((bank) => bank.sections)
  const common = tightest(operator.global, sections)
  const { lexical, semantic } = common.retrieval.weights
  if (lexical + semantic > 0) return bankSettings(common)
  // The file searches by vectors alone and a bank has that off: its own weights find something and keep it off.
  const { weights } = (sections.find(({ retrieval }) => retrieval.weights.semantic === 0) ?? operator.global).retrieval
  return bankSettings({ ...common, retrieval: { ...common.retrieval, weights } })
}

function isRankedAlike ({ sections: one }: OpenBank, { sections: other }: OpenBank): boolean {
  return one === other || isDeepStrictEqual([one.retrieval, one.reflect], [other.retrieval, other.reflect])
}
