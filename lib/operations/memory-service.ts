import { randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import type { Static, TObject } from 'typebox'
import type { AccessControl, Permission } from '../access/access-control.js'
import type { BankKey, RequestContext } from '../access/context.js'
import { systemClock, type Clock } from '../base/clock.js'
import type { Timer } from '../base/deadline.js'
import { uuidv7Source, type IdSource } from '../base/ids.js'
import type { BackOffTools } from '../base/retry.js'
import { validatorOf } from '../base/schema-check.js'
import { NO_TELEMETRY } from '../base/telemetry.js'
import type { Config, Settings } from '../config/config.js'
import { providerLabel } from '../config/providers/registry.js'
import { BankConfigurationSchema } from '../config/schema.js'
import { boundedLanguageModel, ObservedReranker } from '../models/bounded-models.js'
import { ModelHealth } from '../models/health.js'
import type { LanguageModel } from '../models/language-model.js'
import { MockLanguageModel } from '../models/mock/language-model.js'
import { loadDateParser } from '../ranking/date-parser.js'
import { Retriever } from '../ranking/retriever.js'
import { loadVocabulary } from '../text/tokens.js'
import { AdmissionControl, UsageCounters } from './admission.js'
import { accessOf, accessRules, decideAccess, listAllBanks } from './bank-browser.js'
import { inspectBankConfig, revokeBankConfig } from './bank-configurations.js'
import { BankDirectory, LiveSettings, readFileSettings, makeBankQueue } from './bank-directory.js'
import { SealedCursors } from './cursor.js'
import type { Call, Dependencies } from './dependencies.js'
import { HealthProbe, memoryStatus, modelConditions, type MemoryStatus, type ModelConditions } from './health.js'
import { FactExtraction, hasExtractions } from './extraction.js'
import { IdempotencyService } from './idempotency.js'
import { Indexer } from './indexer.js'
import { MeteredLanguageModel } from './metered-language-model.js'
import {
  closeProviders, makeBackfill, openProviders, type MemoryConfig, type ProviderOverrides, type Providers,
} from './open-providers.js'
import type { Operation } from './operation.js'
import { OPERATIONS } from './operations.js'
import type { Capabilities } from './operator-settings.js'
import { openRateCounts, type RateCounts, type RatePlaceStatus } from './rate-counts.js'
import { reflectStream } from './reflect.js'
import type {
  AccessAnswer, AccessCheckRequest, AccessDecision, AccessRulesAnswer, AdminAccessQuery, AdminBanksAnswer,
  BankConfigAnswer,
} from './schemas.js'
import { exportBank, importBank } from './transfer.js'

/** Replacements that a test or an embedding application provides. */
export interface MemoryOverrides extends ProviderOverrides, BackOffTools {
  clock?: Clock
  newId?: IdSource
  /** Makes the random delimiter of the evidence in one prompt. Default: 32 hexadecimal digits. */
  newBoundary?: () => string
  /** A monotonic clock in milliseconds. */
  timer?: Timer
}

/** What belongs to a call besides its request and its caller. */
export type CallOptions = Omit<Call, 'context'>

type Operations = typeof OPERATIONS

/** The operations of callers, by the names of their declarations. */
type BoundOperations = {
  [Name in keyof Operations]: Method<
    Static<Operations[Name]['request']>, Promise<Static<Operations[Name]['answer']>>
  >
}

type Method<Request, Answer> = (request: Request, context: RequestContext, options?: CallOptions) => Answer
type Bound<Run> = Run extends (deps: Dependencies, request: infer Request, call: Call) => infer Answer
  ? Method<Request, Answer>
  : never

/**
 * The operations on memories that routes and other callers use. Each checks access itself. Answers are the records of
 * lib/operations/schemas/; refusals are ServiceErrors. Operations of operators check no access.
 */
export interface MemoryService extends BoundOperations {
  run<Request extends TObject, Answer extends TObject> (
    operation: Operation<Request, Answer>, request: Static<Request>, call: Call,
  ): Promise<Static<Answer>>
  reflectStream: Bound<typeof reflectStream>
  exportBank: Bound<typeof exportBank>
  importBank: Bound<typeof importBank>
  /** For operators: the banks of one tenant or of all. */
  listAllBanks (only: { tenantId?: string, bankId?: string }): Promise<AdminBanksAnswer>
  /** For operators: the configuration of a bank of any tenant. */
  inspectBankConfig (bank: BankKey): Promise<BankConfigAnswer>
  /** For operators: removes the configuration of a bank of any tenant. @throws ServiceError not_supported */
  revokeBankConfig (bank: BankKey): Promise<BankConfigAnswer>
  /** For operators: a caller's permissions on every bank of its tenant. */
  accessOf (query: AdminAccessQuery): Promise<AccessAnswer>
  /** For operators: whether a caller has a permission, and why. */
  decideAccess (request: AccessCheckRequest): Promise<AccessDecision>
  /** For operators: the rules of the configuration file. */
  accessRules (): AccessRulesAnswer
  /**
   * Checks access to banks before the rest of a request is read. Each operation checks it again, by the same rule.
   * @returns undefined when the configuration file grants access, which needs no waiting
   * @throws ServiceError access_denied, dependency_unavailable
   */
  checkAccess (
    context: RequestContext, permission: Permission, bankIds: readonly string[],
  ): Promise<unknown> | undefined
  /** Whether the store is healthy. */
  checkHealth: HealthProbe['check']
  /** The state for metrics. It queries neither the database nor an endpoint. */
  status (): MemoryStatus
  /**
   * Applies another configuration file, completely or not at all, to operations that begin from now on. Settings that
   * are read only at the start (plugins/reload.ts) do not change.
   * @throws ProviderError for settings with which no recall can work; nothing changes then
   */
  replaceFile (config: Pick<Config, 'file' | 'settings'>): void
  /** Whether the place of their own where rate limits are counted is reached; undefined without one. */
  rateCounts (): RatePlaceStatus | undefined
  /** The conditions of the models, from their past calls; no call is made. */
  modelConditions (): ModelConditions
  /** The names of the models, from the provider or the configuration. */
  modelNames (): { embedding: string | undefined, languageModel: string, reranker: string | undefined }
  /** Length of every vector of the embedding provider. */
  dimensions: number
  /** Resolves when no memory is known to lack vectors or facts, and all use of daily quotas is counted. */
  idle (): Promise<void>
  close (): Promise<void>
}

/** @param models observes the calls of the models */
function bound (deps: Dependencies, capabilities: Capabilities, models: ModelHealth): MemoryService {
  const {
    access, backfill, directory, embeddings, extraction, live, meteredModel, rates, reranker, store, usage,
  } = deps
  const bind = <Request, Answer>(
    run: (deps: Dependencies, request: Request, call: Call) => Answer,
  ): Method<Request, Answer> => (request, context, options) => run(deps, request, { ...options, context })
  const probe = new HealthProbe(store, () => performance.now())
  return {
    // `operation` of lib/operations keeps the types of each of them.
    ...Object.fromEntries(Object.entries<Operation>(OPERATIONS).map(([name, { run }]) => (
      [name, bind(run)]
    ))) as unknown as BoundOperations,
    run: async (operation, request, call) => await operation.run(deps, request, call),
    reflectStream: bind(reflectStream),
    exportBank: bind(exportBank),
    importBank: bind(importBank),
    listAllBanks: async (only) => await listAllBanks(deps, only),
    inspectBankConfig: async (bank) => await inspectBankConfig(deps, bank),
    revokeBankConfig: async (bank) => await revokeBankConfig(deps, bank),
    accessOf: async (query) => await accessOf(deps, query),
    decideAccess: async (request) => await decideAccess(deps, request),
    accessRules: () => accessRules(deps),
    checkAccess: (context, permission, bankIds) => {
      if (bankIds.every((bankId) => access.decide(context, permission, bankId).allowed)) return undefined
      return directory.open(context, permission, bankIds)
    },
    checkHealth: async (timeoutMs) => await probe.check(timeoutMs),
    status: () => memoryStatus(deps),
    replaceFile: (config) => {
      live.replace(readFileSettings(config, capabilities))
      meteredModel.replacePrices(live.current.prices)
    },
    rateCounts: () => rates.status?.(),
    modelConditions: () => modelConditions(deps, models),
    modelNames: () => ({
      embedding: embeddings.model,
      languageModel: meteredModel.model,
      reranker: reranker instanceof ObservedReranker ? reranker.model : undefined,
    }),
    get dimensions () { return embeddings.dimensions },
    idle: async () => {
      await extraction?.idle()
      await backfill?.idle()
      await usage.idle()
    },
    close: async () => {
      await extraction?.stop()
      await backfill?.stop()
      await usage.idle()
      await rates.close?.()
      await closeProviders(deps)
    },
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
    const { warn = () => {}, info = () => {} } = overrides
    const rates = await openRateCounts(config.settings.limitsStore, providers.store, { warn, info })
    return serviceOf({ ...providers, rates }, config, access, { ...overrides, clock }, models)
  } catch (error) {
    await closeProviders(providers).catch(() => {})
    throw error
  }
}

function serviceOf (
  { store, embeddings, languageModel, reranker, weights, rates }: Providers & { rates: RateCounts },
  config: MemoryConfig, access: AccessControl, overrides: MemoryOverrides & { clock: Clock }, models: ModelHealth,
): MemoryService {
  const { settings } = config
  const { clock } = overrides
  const { telemetry } = models
  const backfill = weights.semantic > 0 ? makeBackfill(store, embeddings, clock, overrides) : undefined
  const capabilities: Capabilities = {
    semanticWeight: embeddings.fusionWeight,
    hasReranker: reranker !== undefined,
    canExtract: languageModel.structured !== false && hasExtractions(store),
  }
  const live = new LiveSettings(readFileSettings(config, capabilities), access)
  const timer = overrides.timer ?? (() => performance.now())
  const warn = overrides.warn ?? (() => {})
  const usage = new UsageCounters({ store, warn })
  const admission = new AdmissionControl(clock, telemetry, usage, rates)
  const bounded = withBounds(languageModel, settings, live)
  const meteredModel = new MeteredLanguageModel({
    languageModel: bounded,
    provider: providerLabel(settings.languageModel.name),
    prices: settings.prices,
    admission,
    telemetry,
    timer,
  })
  const directory = new BankDirectory({ configs: store.bankConfigs, live, access, timer, warn })
  const indexer = new Indexer({ embeddings: weights.semantic > 0 ? embeddings : undefined, backfill })
  const newId = overrides.newId ?? uuidv7Source(clock)
  const newBoundary = overrides.newBoundary ?? (() => randomBytes(16).toString('hex'))
  const extraction = meteredModel.isStructured && hasExtractions(store)
    ? new FactExtraction({
      store, directory, indexer, meteredModel, telemetry, clock, newId, newBoundary, warn, schedule: overrides.schedule,
    })
    : undefined
  const service = bound({
    store,
    embeddings,
    languageModel: bounded,
    reranker,
    access,
    live,
    directory,
    cursors: new SealedCursors(config.cursorKey),
    admission,
    rates,
    usage,
    idempotency: new IdempotencyService(clock, store),
    retriever: new Retriever({ store, embeddings, reranker, clock, timer, telemetry }),
    indexer,
    backfill,
    extraction,
    clock,
    newId,
    meteredModel,
    warn,
    timer,
    extractive: new MockLanguageModel(),
    newBoundary,
    queues: { retains: makeBankQueue(64), imports: makeBankQueue(4), settings: makeBankQueue(64) },
  }, capabilities, models)
  backfill?.requestScan()
  extraction?.wake()
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
