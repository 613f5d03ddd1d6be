import { randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import type { AccessControl, Permission } from '../access/access-control.js'
import { systemClock, type Clock } from '../time/clock.js'
import type { Config } from '../config/config.js'
import { BankConfigurationSchema } from '../config/schema.js'
import type { Settings } from '../config/settings.js'
import type { Timer } from '../concurrency/deadline.js'
import type { RequestContext } from '../identity/context.js'
import { uuidv7Source, type IdSource } from '../validation/ids.js'
import { boundedLanguageModel } from '../models/bounded-models.js'
import { ModelHealth } from '../models/health.js'
import type { LanguageModel } from '../models/language-model.js'
import { ObservedReranker } from '../models/observed.js'
import { MockLanguageModel } from '../models/mock/language-model.js'
import { AdmissionControl, UsageCounters } from '../policy/admission.js'
import type { Capabilities } from '../policy/settings.js'
import { loadDateParser } from '../retrieval/date-parser.js'
import { Retriever } from '../retrieval/retriever.js'
import { loadVocabulary } from '../text/tokens.js'
import { validatorOf } from '../validation/schema-check.js'
import { providerLabel } from '../providers/registry.js'
import { NO_TELEMETRY } from '../telemetry/telemetry.js'
import type { BackOffTools } from '../concurrency/back-off.js'
import { BankConfigurations } from './bank-configurations.js'
import { AccessReport, BankBrowser, Banks } from './banks.js'
import { BankDirectory, LiveSettings, readFileSettings } from './bank-directory.js'
import { SealedCursors } from './cursor.js'
import type { Dependencies } from './dependencies.js'
import { ExplainService } from './explain-service.js'
import { ForgetService } from './forget-service.js'
import { HealthProbe, memoryStatus, modelConditions, type MemoryStatus, type ModelConditions } from './health.js'
import { IdempotencyService } from './idempotency.js'
import { Indexer } from './indexer.js'
import { MeteredLanguageModel } from './metered-language-model.js'
import {
  closeProviders, makeBackfill, openProviders, type MemoryConfig, type ProviderOverrides, type Providers,
} from './open-providers.js'
import { RecallService } from './recall-service.js'
import { RetainService } from './retain-service.js'
import { ReflectService, type ReflectOptions } from './reflect-service.js'
import { ModelAssistedRecall } from './model-assisted-recall.js'
import { Transfer } from './transfer.js'

/** Replacements that a test or an embedding application provides. */
export interface MemoryOverrides extends ProviderOverrides, BackOffTools {
  clock?: Clock
  newId?: IdSource
  /** Makes the random delimiter of the evidence in one prompt. Default: 32 hexadecimal digits. */
  newBoundary?: () => string
  /** A monotonic clock in milliseconds. */
  timer?: Timer
}

/**
 * The operations on memories that routes and other callers use. Each checks access itself. Answers are the records of
 * lib/memory/schemas/; refusals are ServiceErrors.
 */
export class MemoryService {
  readonly retain: RetainService['retain']
  readonly retainBatch: RetainService['retainBatch']
  readonly forget: ForgetService['forget']
  readonly recall: RecallService['recall']
  readonly explain: ExplainService['explain']
  readonly reflect: ReflectService['reflect']
  readonly reflectStream: ReflectService['stream']
  readonly banks: Banks
  readonly browser: BankBrowser
  readonly accessReport: AccessReport
  readonly configurations: BankConfigurations
  readonly transfer: Transfer
  readonly health: HealthProbe
  readonly #deps: Dependencies
  readonly #capabilities: Capabilities
  readonly #models: ModelHealth

  /** @param models observes the calls of the models */
  constructor (deps: Dependencies, reflection: ReflectOptions, capabilities: Capabilities, models: ModelHealth) {
    this.#deps = deps
    this.#capabilities = capabilities
    this.#models = models
    const retain = new RetainService(deps)
    const forget = new ForgetService(deps)
    const recall = new RecallService(deps)
    const explain = new ExplainService(deps)
    const reflect = new ReflectService(deps, reflection)
    this.retain = retain.retain.bind(retain)
    this.retainBatch = retain.retainBatch.bind(retain)
    this.forget = forget.forget.bind(forget)
    this.recall = recall.recall.bind(recall)
    this.explain = explain.explain.bind(explain)
    this.reflect = reflect.reflect.bind(reflect)
    this.reflectStream = reflect.stream.bind(reflect)
    this.banks = new Banks(deps)
    this.browser = new BankBrowser(deps)
    this.accessReport = new AccessReport(deps, this.banks)
    this.configurations = new BankConfigurations(deps)
    this.transfer = new Transfer(deps, this.configurations)
    this.health = new HealthProbe(deps.store, () => performance.now())
  }

  /**
   * Checks access to banks before the rest of a request is read. Each operation checks it again, by the same rule.
   * @returns undefined when the configuration file grants access, which needs no waiting
   * @throws ServiceError access_denied, dependency_unavailable
   */
  checkAccess (
    context: RequestContext, permission: Permission, bankIds: readonly string[],
  ): Promise<unknown> | undefined {
    const { access, directory } = this.#deps
    if (bankIds.every((bankId) => access.decide(context, permission, bankId).allowed)) return undefined
    return directory.open(context, permission, bankIds)
  }

  /** The state for metrics. It queries neither the database nor an endpoint. */
  status (): MemoryStatus {
    return memoryStatus(this.#deps)
  }

  /**
   * Applies another configuration file, completely or not at all, to operations that begin from now on. Settings that
   * are read only at the start (lib/config/changes.ts) do not change.
   * @throws ProviderError for settings with which no recall can work; nothing changes then
   */
  replaceFile (config: Pick<Config, 'file' | 'settings'>): void {
    const { live, meteredModel } = this.#deps
    live.replace(readFileSettings(config, this.#capabilities))
    meteredModel.replacePrices(live.current.prices)
  }

  /** The conditions of the models, from their past calls; no call is made. */
  modelConditions (): ModelConditions {
    return modelConditions(this.#deps, this.#models)
  }

  /** The names of the models, from the provider or the configuration. */
  modelNames (): { embedding: string | undefined, languageModel: string, reranker: string | undefined } {
    const { embeddings, meteredModel, reranker } = this.#deps
    return {
      embedding: embeddings.model,
      languageModel: meteredModel.model,
      reranker: reranker instanceof ObservedReranker ? reranker.model : undefined,
    }
  }

  /** Length of every vector of the embedding provider. */
  get dimensions (): number {
    return this.#deps.embeddings.dimensions
  }

  /** Resolves when no memory is known to lack vectors, and all use of daily quotas is counted. */
  async idle (): Promise<void> {
    await this.#deps.backfill?.idle()
    await this.#deps.usage.idle()
  }

  async close (): Promise<void> {
    await this.#deps.backfill?.stop()
    await this.#deps.usage.idle()
    await closeProviders(this.#deps)
  }
}

/**
 * Builds the service from its configuration. When that fails, what was opened is closed.
 * @throws ProviderError when a provider cannot be created, or the settings do not fit the providers
 */
export async function createMemoryService (
  config: MemoryConfig, access: AccessControl, overrides: MemoryOverrides = {},
): Promise<MemoryService> {
  const models = new ModelHealth(overrides.telemetry ?? NO_TELEMETRY)
  const clock = overrides.clock ?? systemClock
  const providers = await openProviders(config, { ...overrides, telemetry: models.telemetry }, clock)
  try {
    return serviceOf(providers, config, access, { ...overrides, clock }, models)
  } catch (error) {
    await closeProviders(providers).catch(() => {})
    throw error
  }
}

function serviceOf (
  { store, embeddings, languageModel, reranker, weights }: Providers, config: MemoryConfig, access: AccessControl,
  overrides: MemoryOverrides & { clock: Clock }, models: ModelHealth,
): MemoryService {
  const { settings } = config
  const { clock } = overrides
  const { telemetry } = models
  const backfill = weights.semantic > 0 ? makeBackfill(store, embeddings, clock, overrides) : undefined
  const capabilities: Capabilities = { semanticWeight: embeddings.fusionWeight, hasReranker: reranker !== undefined }
  const live = new LiveSettings(readFileSettings(config, capabilities), access)
  const timer = overrides.timer ?? (() => performance.now())
  const warn = overrides.warn ?? (() => {})
  const usage = new UsageCounters({ store, warn })
  const admission = new AdmissionControl(clock, telemetry, usage)
  const bounded = withBounds(languageModel, settings, live)
  const meteredModel = new MeteredLanguageModel({
    languageModel: bounded,
    provider: providerLabel(settings.languageModel.name),
    prices: settings.prices,
    admission,
    telemetry,
    timer,
  })
  const newBoundary = overrides.newBoundary ?? (() => randomBytes(16).toString('hex'))
  const service = new MemoryService({
    store,
    embeddings,
    languageModel: bounded,
    reranker,
    access,
    live,
    directory: new BankDirectory({ configs: store.bankConfigs, live, access, timer, warn }),
    cursors: new SealedCursors(config.cursorKey),
    admission,
    usage,
    idempotency: new IdempotencyService(clock, store),
    retriever: new Retriever({ store, embeddings, reranker, clock, timer, telemetry }),
    indexer: new Indexer({ embeddings: weights.semantic > 0 ? embeddings : undefined, backfill }),
    backfill,
    clock,
    newId: overrides.newId ?? uuidv7Source(clock),
    meteredModel,
    modelAssistedRecall: new ModelAssistedRecall({ meteredModel, newBoundary }),
    warn,
  }, { extractive: new MockLanguageModel(), timer, newBoundary }, capabilities, models)
  backfill?.requestScan()
  return service
}

/** The mock makes no calls that could be slow or fail, so it needs no bounds. */
function withBounds (languageModel: LanguageModel, { circuitBreaker }: Settings, live: LiveSettings): LanguageModel {
  if (languageModel instanceof MockLanguageModel) return languageModel
  return boundedLanguageModel(languageModel, { breaker: circuitBreaker, ceilingMs: () => live.current.maxReflectMs })
}

/**
 * Loads and compiles, once in a process, what takes tens or hundreds of milliseconds at its first use and cannot be
 * split into turns of the event loop, so that no request waits for it.
 */
export function warmUp (): void {
  loadVocabulary()
  loadDateParser()
  validatorOf(BankConfigurationSchema).compile()
}
