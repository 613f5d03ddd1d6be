import { isAtLeast, readTrust } from '../access/trust.js'
import { valueAt, isJsonObject } from '../base/json-object.js'
import type { FieldError } from '../base/service-error.js'
import {
  type BankConfiguration, type BankEntry, type BankSettings, defaultSections, type FileConfig, type Profile,
} from '../config/schema.js'

/** The parts of the server that decide which settings have an effect. */
export interface Capabilities {
  /** The default weight of the semantic strategy, from the embedding provider. */
  semanticWeight: number
  /** Whether a reranker is configured. */
  hasReranker: boolean
  /** Whether facts can be derived: the language model answers in JSON, and the store keeps what is to be done. */
  canExtract: boolean
}

/** The settings that the admins of a bank set, without the grants. */
export type OwnSettings = Omit<BankConfiguration, 'access'>

type PolicyFile = Pick<
  FileConfig,
  'homeostasis' | 'barriers' | 'signal_quality' | 'retrieval' | 'reflect' | 'extraction' | 'banks' | 'profiles'
>

/** The settings of an entry of `banks`, or of banks without an entry. */
interface Level {
  /** The path of the entry in the file, with a dot at its end; empty without an entry. */
  at: string
  /** The profile that the entry chooses. */
  profile: string | undefined
  layers: readonly Layer[]
  merged: Merged
}

/**
 * The settings in force for each bank. The layers from the lowest to the highest: defaults, the settings of the file,
 * the profile that the bank's entry in the file chooses, that entry, the profile that the bank itself chooses, and what
 * the bank itself sets; the last two within the limits of those before. One entry applies: a literal bank id wins over
 * patterns, a longer pattern over a shorter one.
 */
export class OperatorSettings {
  readonly #profiles: ReadonlyMap<string, Profile>
  readonly #capabilities: Capabilities
  readonly #global: Level
  readonly #literal = new Map<string, Level>()
  /** Longest prefix first. */
  readonly #patterned: Array<{ prefix: string, level: Level }> = []

  /** @param file validated, so the profiles that its banks name exist */
  constructor (file: PolicyFile, capabilities: Capabilities) {
    this.#capabilities = capabilities
    this.#profiles = new Map(Object.entries(file.profiles ?? {}))
    const { homeostasis, barriers, signal_quality: signalQuality, retrieval, reflect, extraction } = file
    const layers: Layer[] = [
      { origin: 'default', settings: { ...defaultSections(capabilities.semanticWeight) } },
      {
        origin: 'file',
        settings: { homeostasis, barriers, signal_quality: signalQuality, retrieval, reflect, extraction },
      },
    ]
    this.#global = { at: '', profile: undefined, layers, merged: mergeLayers(layers) }
    for (const [bankId, entry] of Object.entries(file.banks ?? {})) {
      const level = this.#levelOf(`banks.${bankId}.`, entry)
      if (bankId.endsWith('*')) this.#patterned.push({ prefix: bankId.slice(0, -1), level })
      else this.#literal.set(bankId, level)
    }
    this.#patterned.sort((a, b) => b.prefix.length - a.prefix.length)
  }

  /** The settings of banks without an entry of their own. */
  get global (): BankSettings {
    return this.#global.merged.settings
  }

  /**
   * Problems of the file: weights with which a recall finds nothing, or searches vectors that are never made, and facts
   * that nothing can derive.
   */
  problems (): string[] {
    const isEmbedding = this.global.retrieval.weights.semantic > 0
    const levels = [this.#global, ...this.#literal.values(), ...this.#patterned.map(({ level }) => level)]
    const withoutModel = levels.flatMap(({ at, merged }) => (
      this.#capabilities.canExtract || merged.settings.extraction.mode === 'off'
        ? []
        : [`${at}extraction.mode: ${CANNOT_EXTRACT}`]
    ))
    return withoutModel.concat(levels.flatMap(({ at, merged }) => {
      const { lexical, semantic } = merged.settings.retrieval.weights
      if (lexical + semantic === 0) return [`${at}retrieval.weights: one of lexical and semantic must be above 0`]
      if (semantic === 0 || isEmbedding) return []
      return [`${at}retrieval.weights.semantic: must be 0 while it is 0 for all banks, since no vectors are made then`]
    }))
  }

  /** The settings in force for a bank. @param own what its admins set, if anything */
  of (bankId: string, own?: OwnSettings): BankSettings {
    return this.explain(bankId, own).settings
  }

  /** As `of`, with the origin of each value. */
  explain (bankId: string, own?: OwnSettings): Merged {
    const level = this.#level(bankId)
    if (own === undefined) return level.merged
    return withWeights(withinCeilings(this.#merged(level, own), level.merged), level.merged)
  }

  /** The operator's value of each limit that bounds a bank, by its path. */
  ceilings (bankId: string): Record<string, unknown> {
    return ceilingsOf(this.#level(bankId).merged)
  }

  /** The profile that is in force for a bank, and who chose it. @param chosen by the bank itself */
  profileOf (bankId: string, chosen?: string): { name: string, origin: 'bank' | 'file' } | undefined {
    if (chosen !== undefined && this.#profiles.has(chosen)) return { name: chosen, origin: 'bank' }
    const { profile } = this.#level(bankId)
    return profile === undefined ? undefined : { name: profile, origin: 'file' }
  }

  /**
   * The faults of settings that the admins of a bank want to change: values beyond the operator's limits, and settings
   * without effect on this server.
   */
  faults (bankId: string, own: OwnSettings): FieldError[] {
    const level = this.#level(bankId)
    const merged = this.#merged(level, own)
    const faults = ceilingViolations(merged, level.merged).map(({ path, allowed }) => merged.origin[path] === 'profile'
      ? { field: 'profile', message: `sets ${path}, which must be ${allowed}` }
      : { field: path, message: `must be ${allowed}` })
    if (own.profile !== undefined && !this.#profiles.has(own.profile)) {
      faults.push({ field: 'profile', message: 'must be the name of a profile of the server\'s configuration file' })
    }
    const { lexical, semantic } = merged.settings.retrieval.weights
    if (lexical + semantic === 0) {
      faults.push({ field: 'retrieval.weights', message: 'must leave one of lexical and semantic above 0' })
    }
    if (merged.settings.extraction.mode !== 'off' && !this.#capabilities.canExtract) {
      const isOfProfile = merged.origin['extraction.mode'] === 'profile'
      faults.push({ field: isOfProfile ? 'profile' : 'extraction.mode', message: CANNOT_EXTRACT })
    }
    if (own.retrieval?.rerank !== undefined && !this.#capabilities.hasReranker) {
      faults.push({ field: 'retrieval.rerank', message: 'has no effect, since the server has no reranker' })
    }
    if (own.retrieval?.semantic_timeout_ms !== undefined && this.global.retrieval.weights.semantic === 0) {
      faults.push({
        field: 'retrieval.semantic_timeout_ms', message: 'has no effect, since the server searches no vectors',
      })
    }
    return faults
  }

  #level (bankId: string): Level {
    return this.#literal.get(bankId) ??
      this.#patterned.find(({ prefix }) => bankId.startsWith(prefix))?.level ??
      this.#global
  }

  #levelOf (at: string, { profile, access: _, ...settings }: BankEntry): Level {
    const layers = [...this.#global.layers, ...this.#profileLayer(profile), layer('file', settings)]
    return { at, profile, layers, merged: mergeLayers(layers) }
  }

  #merged (level: Level, { profile, ...settings }: OwnSettings): Merged {
    return mergeLayers([...level.layers, ...this.#profileLayer(profile), layer('bank', settings)])
  }

  /** The profile may have been removed from the file after the bank chose it; it then has no effect. */
  #profileLayer (name: string | undefined): Layer[] {
    const profile = name === undefined ? undefined : this.#profiles.get(name)
    return profile === undefined ? [] : [layer('profile', profile)]
  }
}

const CANNOT_EXTRACT = 'must be off, since the server has no language model that answers in JSON (llm_provider: mock ' +
  'does not), or a vector store that keeps no extractions'

/** If the file switches off the only strategy that a bank has left on, recall uses the weights of the file. */
function withWeights (bank: Merged, operator: Merged): Merged {
  const { lexical, semantic } = bank.settings.retrieval.weights
  if (lexical + semantic > 0) return bank
  const { retrieval } = bank.settings
  const path = 'retrieval.weights.lexical'
  return {
    settings: { ...bank.settings, retrieval: { ...retrieval, weights: operator.settings.retrieval.weights } },
    origin: { ...bank.origin, [path]: operator.origin[path]! },
  }
}

function layer (origin: Origin, settings: object): Layer {
  return { origin, settings: { ...settings } }
}

/**
 * How the operator's value bounds that of a bank. at_most: a number that may not be higher. at_least_set: a number that
 * may not be lower, when the operator has set one. only_off: what is off stays off. trust: a level of trust that may
 * only rise. union: a list that may only grow.
 */
type Rule = 'at_most' | 'at_least_set' | 'only_off' | 'trust' | 'union'

/** The settings that are limits; every other one is a bank's own choice. */
export const LIMITS: Readonly<Record<string, Rule>> = {
  'homeostasis.recall_max_tokens': 'at_most',
  'homeostasis.reflect_max_tokens': 'at_most',
  'homeostasis.retain_max_content_bytes': 'at_most',
  'homeostasis.rate_limits.retain_per_minute': 'at_most',
  'homeostasis.rate_limits.recall_per_minute': 'at_most',
  'homeostasis.rate_limits.reflect_per_minute': 'at_most',
  'homeostasis.rate_limits.forget_per_minute': 'at_most',
  'homeostasis.rate_limits.import_per_minute': 'at_most',
  'homeostasis.rate_limits.global_per_minute': 'at_most',
  'homeostasis.quotas.retain_per_day': 'at_most',
  'homeostasis.quotas.import_per_day': 'at_most',
  'homeostasis.quotas.reflect_per_day': 'at_most',
  'homeostasis.quotas.model_calls_per_day': 'at_most',
  'homeostasis.quotas.model_tokens_per_day': 'at_most',
  'barriers.validation.max_content_length': 'at_most',
  'barriers.metadata.max_metadata_size_bytes': 'at_most',
  'barriers.metadata.blocked_keys': 'union',
  'retrieval.weights.semantic': 'only_off',
  'retrieval.semantic_timeout_ms': 'at_most',
  'retrieval.rerank.candidates': 'at_most',
  'retrieval.rerank.timeout_ms': 'at_most',
  'retrieval.rewrite.enabled': 'only_off',
  'retrieval.rewrite.max_queries': 'at_most',
  'retrieval.rewrite.timeout_ms': 'at_most',
  'retrieval.model_rerank.enabled': 'only_off',
  'retrieval.model_rerank.candidates': 'at_most',
  'retrieval.model_rerank.timeout_ms': 'at_most',
  'extraction.max_facts_per_job': 'at_most',
  'extraction.max_output_tokens': 'at_most',
  'extraction.timeout_ms': 'at_most',
  'reflect.timeout_ms': 'at_most',
  'reflect.max_evidence': 'at_most',
  'reflect.max_evidence_tokens': 'at_most',
  'reflect.min_score': 'at_least_set',
  'reflect.min_trust': 'trust',
}

/** A value beyond the operator's. */
interface CeilingViolation {
  path: string
  /** What the operator allows, in words. */
  allowed: string
}

/** The settings of a bank with each limit that is looser than the operator's replaced by the operator's. */
function withinCeilings (bank: Merged, operator: Merged): Merged {
  return Object.keys(LIMITS).reduce((bounded, path) => {
    const value = boundFor(path, bank, operator)
    if (value === undefined) return bounded
    const from = path.endsWith('blocked_keys') ? bank.origin[path] : operator.origin[path]
    return {
      settings: withValueAt(bounded.settings, path, value),
      origin: from === undefined ? bounded.origin : { ...bounded.origin, [path]: from },
    }
  }, bank)
}

/** The values of a bank that are looser than its operator's. */
function ceilingViolations (bank: Merged, operator: Merged): CeilingViolation[] {
  return Object.entries(LIMITS).flatMap(([path, rule]) => {
    const bound = boundFor(path, bank, operator)
    return bound === undefined || rule === 'union' ? [] : [{ path, allowed: describe(rule, bound) }]
  })
}

/** The operator's value of each limit that bounds a bank, by its path. */
function ceilingsOf ({ settings, origin }: Merged): Record<string, unknown> {
  return Object.fromEntries(Object.entries(LIMITS).flatMap(([path, rule]) => {
    const ceiling = valueAt(settings, path)
    const isBound = ceiling !== undefined && !(rule === 'at_least_set' && origin[path] === 'default')
    return isBound ? [[path, ceiling]] : []
  }))
}

/** The settings for an operation on several banks: the tightest of each limit, and all others from `base`. */
export function strictestLimits (base: BankSettings, banks: readonly BankSettings[]): BankSettings {
  return banks.reduce((settings, bank) => {
    // Every value is treated as set, because here a default of one bank limits the others too.
    const origin = Object.fromEntries(Object.keys(LIMITS).map((path) => [path, 'file' as const]))
    return withinCeilings({ settings, origin }, { settings: bank, origin }).settings
  }, base)
}

/**
 * @returns the operator's value where the bank's is looser; the union of two lists where the bank's lacks an element;
 *   undefined where the bank's value is within the limit
 */
function boundFor (path: string, bank: Merged, operator: Merged): unknown {
  const own = valueAt(bank.settings, path)
  const ceiling = valueAt(operator.settings, path)
  if (ceiling === undefined) return undefined
  switch (LIMITS[path]!) {
    case 'at_most': return own === undefined || Number(own) > Number(ceiling) ? ceiling : undefined
    case 'at_least_set':
      return operator.origin[path] !== 'default' && Number(own) < Number(ceiling) ? ceiling : undefined
    case 'only_off': return isOff(ceiling) && !isOff(own) ? ceiling : undefined
    case 'trust': return isAtLeast(readTrust(String(own)), readTrust(String(ceiling))) ? undefined : ceiling
    case 'union': {
      const [ownKeys, ceilingKeys] = [own as readonly string[], ceiling as readonly string[]]
      return ceilingKeys.every((key) => ownKeys.includes(key)) ? undefined : [...new Set([...ceilingKeys, ...ownKeys])]
    }
  }
}

function isOff (value: unknown): boolean {
  return value === false || value === 0 || value === undefined
}

function describe (rule: Rule, bound: unknown): string {
  switch (rule) {
    case 'at_most': return `at most ${String(bound)}`
    case 'at_least_set': return `at least ${String(bound)}`
    case 'trust': return `at least ${String(bound)}`
    case 'only_off': return `${String(bound)}, since it is switched off for this bank`
    case 'union': return String(bound)
  }
}

/** The origin of a setting's value. */
export type Origin = 'default' | 'file' | 'profile' | 'bank'

/** The settings of one origin. */
export interface Layer {
  origin: Origin
  settings: Readonly<Record<string, unknown>>
}

/** Merged settings. */
interface Merged {
  settings: BankSettings
  /** The origin of each value by its path, such as `homeostasis.rate_limits.retain_per_minute`. */
  origin: Readonly<Record<string, Origin>>
}

/**
 * Merges settings value by value; a list is one value.
 * @param layers later ones win; the first has the defaults
 */
function mergeLayers (layers: readonly Layer[]): Merged {
  const settings: Record<string, unknown> = {}
  const origin: Record<string, Origin> = {}
  for (const layer of layers) layOver(settings, layer.settings, '', layer.origin, origin)
  // The layer of defaults has every section and every required value of BankSettings.
  return { settings: settings as unknown as BankSettings, origin }
}

function layOver (
  target: Record<string, unknown>, source: Readonly<Record<string, unknown>>, prefix: string, from: Origin,
  origin: Record<string, Origin>,
): void {
  for (const [key, value] of Object.entries(source)) {
    if (value === undefined) continue
    const path = `${prefix}${key}`
    if (isJsonObject(value)) {
      const below = isJsonObject(target[key]) ? target[key] : {}
      target[key] = below
      layOver(below, value, `${path}.`, from, origin)
    } else {
      target[key] = value
      origin[path] = from
    }
  }
}

/** The settings with another value at a path; only the maps along the path are copied. */
export function withValueAt<T> (settings: T, path: string, value: unknown): T {
  const [key, ...rest] = path.split('.')
  const map: Record<string, unknown> = isJsonObject(settings) ? settings : {}
  return { ...map, [key!]: rest.length === 0 ? value : withValueAt<unknown>(map[key!], rest.join('.'), value) } as T
}
