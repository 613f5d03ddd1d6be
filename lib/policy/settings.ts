import type { BankConfig, Barriers, FileConfig, Homeostasis, SignalQuality } from '../config/schema.js'

/** The policy sections as they hold for one bank. */
export interface BankPolicy {
  homeostasis: Homeostasis
  barriers: Barriers
  signalQuality: SignalQuality
  /** What the bank is for, for the language model; a bank's own only. */
  mission?: string
}

/**
 * What holds for which bank: the global sections, with those of `banks.<id>` laid over them key by key.
 * A literal bank id wins over patterns, a longer pattern over a shorter one; two entries are never mixed.
 */
export class PolicySettings {
  readonly #global: BankPolicy
  readonly #literal = new Map<string, BankPolicy>()
  /** Longest prefix first. */
  readonly #patterned: Array<{ prefix: string, policy: BankPolicy }> = []

  constructor (file: Pick<FileConfig, 'homeostasis' | 'barriers' | 'signal_quality' | 'banks'>) {
    this.#global = { homeostasis: file.homeostasis ?? {}, barriers: file.barriers ?? {}, signalQuality: file.signal_quality ?? {} }
    for (const [bankId, bank] of Object.entries(file.banks ?? {})) {
      const policy = overlay(this.#global, bank)
      if (bankId.endsWith('*')) this.#patterned.push({ prefix: bankId.slice(0, -1), policy })
      else this.#literal.set(bankId, policy)
    }
    this.#patterned.sort((a, b) => b.prefix.length - a.prefix.length)
  }

  of (bankId: string): BankPolicy {
    return this.#literal.get(bankId) ??
      this.#patterned.find(({ prefix }) => bankId.startsWith(prefix))?.policy ??
      this.#global
  }
}

function overlay (global: BankPolicy, bank: BankConfig): BankPolicy {
  const { homeostasis, barriers, signal_quality: signalQuality, mission } = bank
  return {
    homeostasis: {
      ...global.homeostasis,
      ...homeostasis,
      rate_limits: { ...global.homeostasis.rate_limits, ...homeostasis?.rate_limits },
      quotas: { ...global.homeostasis.quotas, ...homeostasis?.quotas },
    },
    barriers: {
      validation: { ...global.barriers.validation, ...barriers?.validation },
      metadata: { ...global.barriers.metadata, ...barriers?.metadata },
    },
    signalQuality: { dedup: { ...global.signalQuality.dedup, ...signalQuality?.dedup } },
    ...(mission !== undefined && { mission }),
  }
}
