import type { BankConfiguration, BankEntry, FileConfig, Profile } from '../config/schema.js'
import { defaultSections, type BankSections } from '../config/bank-sections.js'
import type { FieldError } from '../errors/service-error.js'
import { excesses, withinCeilings } from './ceilings.js'
import { mergeLayers, type Layer, type Merged, type Origin } from './layers.js'

/** What the server has, which decides what a setting can mean. */
export interface Capabilities {
  /** Weight of the semantic strategy where nobody sets one: what the embedding provider says of itself. */
  semanticWeight: number
  /** Whether a reranker is configured. */
  hasReranker: boolean
}

/** What the admins of a bank set for it, without the grants. */
export type BankOwnSections = Omit<BankConfiguration, 'access'>

type PolicyFile = Pick<
  FileConfig, 'homeostasis' | 'barriers' | 'signal_quality' | 'retrieval' | 'reflect' | 'banks' | 'profiles'
>

/** An entry of `banks`, or what holds for banks without one. */
interface Level {
  /** Where it stands in the file. */
  at: string
  /** The profile that the entry chooses. */
  profile: string | undefined
  layers: readonly Layer[]
  merged: Merged
}

/**
 * What holds for which bank, from the lowest to the highest: defaults, the sections of the file, the profile that the
 * bank's entry in the file chooses, that entry, the profile that the bank itself chooses, what the bank itself sets; the
 * last two within the limits of those before. A literal bank id wins over patterns, a longer pattern over a shorter one;
 * two entries are never mixed.
 */
export class OperatorSettings {
  readonly #profiles: ReadonlyMap<string, Profile>
  readonly #capabilities: Capabilities
  readonly #global: Level
  readonly #literal = new Map<string, Level>()
  /** Longest prefix first. */
  readonly #patterned: Array<{ prefix: string, level: Level }> = []

  /** @param file validated: the profiles that its banks name are there */
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

  /** What holds for banks that nobody says anything of. */
  get global (): BankSections {
    return this.#global.merged.sections
  }

  /** What is wrong with the file: weights under which a recall finds nothing, or asks for vectors that nobody makes. */
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

  /** What holds for a bank. @param own what its admins set, as far as the store has something */
  of (bankId: string, own?: BankOwnSections): BankSections {
    return this.explain(bankId, own).sections
  }

  /** As `of`, with where each value comes from. */
  explain (bankId: string, own?: BankOwnSections): Merged {
    const level = this.#level(bankId)
    if (own === undefined) return level.merged
    return withWeights(withinCeilings(this.#merged(level, own), level.merged), level.merged)
  }

  /** The profile that the file chooses for a bank. */
  profileOf (bankId: string): string | undefined {
    return this.#level(bankId).profile
  }

  /**
   * What is wrong with what the admins of a bank want to set: each value beyond the operator's, and what has no effect
   * on this server.
   */
  faults (bankId: string, own: BankOwnSections): FieldError[] {
    const level = this.#level(bankId)
    const merged = this.#merged(level, own)
    const faults = excesses(merged, level.merged).map(({ path, allowed }) => merged.origin[path] === 'profile'
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

  /** A profile that was taken out of the file since a bank chose it holds no longer. */
  #profileLayer (name: string | undefined): Layer[] {
    const profile = name === undefined ? undefined : this.#profiles.get(name)
    return profile === undefined ? [] : [layer('profile', profile)]
  }
}

/** The file may switch off the only strategy that a bank has left on: recall goes by the file's weights then. */
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
