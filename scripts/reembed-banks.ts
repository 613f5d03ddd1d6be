import { setTimeout as delay } from 'node:timers/promises'
import { loadCommandConfig } from '../lib/config/load.js'
import { settingsOf } from '../lib/config/config.js'
import { embeddingSpace, strategyWeights } from '../lib/operations/open-providers.js'
import { embeddingProviders } from '../lib/models/registry.js'
import { makeProvider, ProviderError } from '../lib/config/providers/registry.js'
import { embed } from '../lib/ranking/passages.js'
import { HOW_TO_MIGRATE, pendingMigrations, readMigrations } from '../lib/stores/sql/migrations.js'
import { Reembedding } from '../lib/stores/sql/reembedding.js'
import type { EmbeddingSpace } from '../lib/stores/vector-store.js'
import { DATABASE_KEYS, openDatabase } from './database.js'
import { ProgressBar } from './progress-bar.js'

export interface ReembedOptions {
  /** Only this bank. */
  bank?: string | undefined
  /** Only banks of this tenant. */
  tenant?: string | undefined
  /** Memories that are embedded at a time. */
  batch: number
}

export interface ReembeddedBank {
  tenant_id: string | null
  bank_id: string
  /** Memories that received a vector. */
  embedded: number
  /** Whether it had vectors of another provider before. */
  moved: boolean
  /** False while transactions from before the move are still open. */
  settled: boolean
}

/** The space of the vectors that the banks have now, and the result for each bank. */
export interface Reembedded extends EmbeddingSpace {
  banks: ReembeddedBank[]
}

export interface ReembedLog {
  /** Receives a line for each action. */
  info: (line: string) => void
  warn: (line: string) => void
}

/**
 * Gives every memory a vector of the configured provider, including memories with vectors of another provider.
 * @returns the result for each bank; a database without memories has none
 * @throws ConfigurationError, ProviderError, SqlError; ServiceError when the provider fails
 */
export async function reembedBanks (
  environment: NodeJS.ProcessEnv, { bank: onlyBank, tenant: onlyTenant, batch }: ReembedOptions,
  { info, warn }: ReembedLog,
): Promise<Reembedded> {
  const keys = [...DATABASE_KEYS, 'embedding_provider', 'embedding_provider_config', 'retrieval'] as const
  const config = loadCommandConfig(environment, { keys })
  const settings = settingsOf(config.file)
  const { name: providerName, config: providerConfig } = settings.embeddings
  const provider = await makeProvider(embeddingProviders, providerName, providerConfig, config.baseDirectory, {
    environment: config.environment,
    info,
    warn,
  })
  const space = embeddingSpace(settings, provider)
  const { executor, schema, indexes, name } = await openDatabase(config).catch(async (error: unknown) => {
    // Its threads would keep the process alive.
    await provider.close?.()
    throw error
  })
  try {
    if (strategyWeights(settings, provider).semantic === 0) {
      throw new ProviderError(`embedding_provider: no search would use the vectors of ${providerName}, because the ` +
        'weight of the semantic strategy is 0; set another provider, or retrieval.weights.semantic')
    }
    const pending = await pendingMigrations(executor, schema, readMigrations())
    if (pending.length > 0) {
      throw new ProviderError(`${name} lacks the migrations ${pending.join(', ')}: ${HOW_TO_MIGRATE}`)
    }
    const reembedding = new Reembedding({
      executor,
      schema,
      space,
      batch,
      embed: async (texts) => await embed(provider, texts, { purpose: 'document' }),
      pause: async (ms) => { await delay(ms) },
    })
    const banks = (await reembedding.banks()).filter(({ bank: { bankId, tenantId } }) => (
      (onlyBank ?? bankId) === bankId && (onlyTenant ?? tenantId) === tenantId
    ))
    if (banks.length === 0) {
      // A restriction that matches nothing is most likely misspelt; an empty database is no fault.
      if (onlyBank !== undefined || onlyTenant !== undefined) {
        throw new ProviderError(`${name} has no such bank with memories`)
      }
      info(`${name} has no memories: there is nothing to do`)
      return { ...space, banks: [] }
    }
    const done: ReembeddedBank[] = []
    for (const { bank } of banks) {
      const label = bank.tenantId === null ? bank.bankId : `${bank.tenantId}/${bank.bankId}`
      const bar = new ProgressBar(process.stderr, label)
      const { embedded, moved, settled } = await reembedding.reembed(bank, ({ done, total }) => {
        bar.update(done, total)
      })
      bar.end()
      done.push({ tenant_id: bank.tenantId, bank_id: bank.bankId, embedded, moved, settled })
      if (moved || embedded > 0) {
        info(`${label}: ${embedded} memories embedded${moved ? `, moved to ${space.model}` : ''}`)
      }
    }
    await indexes?.maintain(info)
    info(`${banks.length} ${banks.length === 1 ? 'bank is' : 'banks are'} of ${space.model} (${space.dimensions} ` +
      'dimensions)')
    if (done.some(({ settled }) => !settled)) {
      info('Transactions from before a move are still open; run this once more when they have ended')
    }
    return { ...space, banks: done }
  } finally {
    await executor.close()
    await provider.close?.()
  }
}
