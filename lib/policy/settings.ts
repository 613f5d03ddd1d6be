import {
  defaultSections, type BankConfiguration, type BankEntry, type FileConfig, type Profile, type BankSections,
} from '../config/schema.js'
import type { FieldError } from '../errors/service-error.js'
import { ceilingsOf, ceilingViolations, withinCeilings } from './ceilings.js'
import { mergeLayers, type Layer, type Merged, type Origin } from './layers.js'

/** The parts of the server that decide which settings have an effect. */
export interface Capabilities {
  /** The default weight of the semantic strategy, from the embedding provider. */
  semanticWeight: number
  /** Whether a reranker is configured. */
  hasReranker: boolean
}

/** The sections that the admins of a bank set, without the grants. */
export type BankOwnSections = Omit<BankConfiguration, 'access'>

type PolicyFile = Pick<
  FileConfig, 'homeostasis' | 'barriers' | 'signal_quality' | 'retrieval' | 'reflect' | 'banks' | 'profiles'
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
 * The settings in force for each bank. The layers from the lowest to the highest: defaults, the sections of the file,
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
    const { homeostasis, barriers, signal_quality: signalQuality, retrieval, reflect } = file
    const layers: Layer[] = [
      { origin: 'default', sections: { ...defaultSections(capabilities.semanticWeight) } },
      { origin: 'file', sections: { homeostasis, barriers, signal_quality: signalQuality, retrieval, reflect } },
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
  get global (): BankSections {
    return this.#global.merged.sections
  }

  /** Problems of the file: weights with which a recall finds nothing, or searches vectors that are never made. */
  problems (): string[] {
    const isEmbedding = this.global.retrieval.weights.semantic > 0
    const levels = [this.#global, ...this.#literal.values(), ...this.#patterned.map(({ level }) => level)]
    return levels.flatMap(({ at, merged }) => {
      const { lexical, semantic } = merged.sections.retrieval.weights
      if (lexical + semantic === 0) return [`${at}retrieval.weights: one of lexical and semantic must be above 0`]
      if (semantic === 0 || isEmbedding) return []
      return [`${at}retrieval.weights.semantic: must be 0 while it is 0 for all banks, since no vectors are made then`]
    })
  }

  /** The settings in force for a bank. @param own what its admins set, if anything */
  of (bankId: string, own?: BankOwnSections): BankSections {
    return this.explain(bankId, own).sections
  }

  /** As `of`, with the origin of each value. */
  explain (bankId: string, own?: BankOwnSections): Merged {
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
  faults (bankId: string, own: BankOwnSections): FieldError[] {
    const level = this.#level(bankId)
    const merged = this.#merged(level, own)
    const faults = ceilingViolations(merged, level.merged).map(({ path, allowed }) => merged.origin[path] === 'profile'
      ? { field: 'profile', message: `sets ${path}, which must be ${allowed}` }
      : { field: path, message: `must be ${allowed}` })
    if (own.profile !== undefined && !this.#profiles.has(own.profile)) {
      faults.push({ field: 'profile', message: 'must be the name of a profile of the server\'s configuration file' })
    }
    const { lexical, semantic } = merged.sections.retrieval.weights
    if (lexical + semantic === 0) {
      faults.push({ field: 'retrieval.weights', message: 'must leave one of lexical and semantic above 0' })
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

  #levelOf (at: string, { profile, access: _, ...sections }: BankEntry): Level {
    const layers = [...this.#global.layers, ...this.#profileLayer(profile), layer('file', sections)]
    return { at, profile, layers, merged: mergeLayers(layers) }
  }

  #merged (level: Level, { profile, ...sections }: BankOwnSections): Merged {
    return mergeLayers([...level.layers, ...this.#profileLayer(profile), layer('bank', sections)])
  }

  /** The profile may have been removed from the file after the bank chose it; it then has no effect. */
  #profileLayer (name: string | undefined): Layer[] {
    const profile = name === undefined ? undefined : this.#profiles.get(name)
    return profile === undefined ? [] : [layer('profile', profile)]
  }
}

/** If the file switches off the only strategy that a bank has left on, recall uses the weights of the file. */
function withWeights (bank: Merged, operator: Merged): Merged {
  const { lexical, semantic } = bank.sections.retrieval.weights
  if (lexical + semantic > 0) return bank
  const { retrieval } = bank.sections
  const path = 'retrieval.weights.lexical'
  return {
    sections: { ...bank.sections, retrieval: { ...retrieval, weights: operator.sections.retrieval.weights } },
    origin: { ...bank.origin, [path]: operator.origin[path]! },
  }
}

function layer (origin: Origin, sections: object): Layer {
  return { origin, sections: { ...sections } }
}
