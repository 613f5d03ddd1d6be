import { isDeepStrictEqual } from 'node:util'
import { compileGrant, type AccessControl, type AccessSettings, type CompiledGrant } from '../access/access-control.js'
import { PrincipalTrust } from '../access/principal-trust.js'
import type { BankSections, BankConfiguration, FileConfig } from '../config/schema.js'
import type { Config, Settings } from '../config/config.js'
import type { BankKey } from '../identity/context.js'
import { strictestLimits } from '../policy/ceilings.js'
import type { BankPolicy, ResolvedBank } from '../policy/bank.js'
import { OperatorSettings, type Capabilities } from '../policy/settings.js'
import { ProviderError } from '../providers/registry.js'
import { bankSettings, type BankSettings } from './bank-settings.js'

/** The parsed settings of the configuration file that can change while the process runs. */
export interface FileSettings extends Pick<Settings, 'bankGrants' | 'degradedMode' | 'prices'> {
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

function maxReflectTime ({ banks = {}, profiles = {} }: FileConfig, { reflect }: BankSections): number {
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
export interface OpenBank extends ResolvedBank {
  settings: BankSettings
  /** The configuration sections of the settings. */
  sections: BankSections
  grants: readonly CompiledGrant[]
}

/** Resolves a bank from the settings of the file and its own configuration. */
export function resolveBank (
  key: BankKey, configuration: BankConfiguration | undefined, { operator, bankGrants }: FileSettings,
): OpenBank {
  const { access = [], ...own } = configuration ?? {}
  // Banks without a configuration share their sections.
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
 * The settings for a request on several banks: those common to all of them, or else the file's global ones, within the
 * limits of each bank.
 */
export function commonSettings (
  banks: readonly OpenBank[], { operator }: FileSettings,
): Omit<BankSettings, keyof BankPolicy | 'tokenBudgets' | 'mission'> {
  const [first, ...others] = banks
  if (first === undefined) return bankSettings(operator.global)
  if (others.every((other) => isRankedAlike(first, other))) return first.settings
  const sections = banks.map((bank) => bank.sections)
  const common = strictestLimits(operator.global, sections)
  const { lexical, semantic } = common.retrieval.weights
  if (lexical + semantic > 0) return bankSettings(common)
  // The file uses only the semantic strategy, which a bank has disabled: its weights keep the strategy disabled and
  // still find memories.
  const { weights } = (sections.find(({ retrieval }) => retrieval.weights.semantic === 0) ?? operator.global).retrieval
  return bankSettings({ ...common, retrieval: { ...common.retrieval, weights } })
}

function isRankedAlike ({ sections: one }: OpenBank, { sections: other }: OpenBank): boolean {
  return one === other || isDeepStrictEqual([one.retrieval, one.reflect], [other.retrieval, other.reflect])
}
