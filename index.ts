/*
 * What the package is as a library. `buildApp` makes a gateway with a server of its own; the default export is a
 * Fastify plugin, which makes it a part of another app. docs/library.md shows both.
 */

// Their declarations give every FastifyInstance the types of `memory` and `reloadConfiguration`.
import './plugins/memory.js'
import './plugins/reload.js'

export { buildApp, type AppOptions, type GatewayOptions } from './app.js'
export { default, default as memoryGateway, type MemoryGatewayOptions } from './embedded.js'
export type { AuthenticateCaller, HostCaller } from './plugins/auth/by-app.js'
export type { LogOptions } from './plugins/logger.js'

export type { Environment } from './lib/config/environment.js'
export { loadConfig, type LoadOptions } from './lib/config/load.js'
export { ConfigurationError } from './lib/config/problems.js'
export type { AuthConfig, AuthMode, Config } from './lib/config/config.js'
export type { FileConfig } from './lib/config/schema.js'

export {
  ERROR_CODES, ServiceError, type ErrorCode, type ErrorMembers, type FieldError,
} from './lib/base/service-error.js'
export { ProviderError } from './lib/config/providers/registry.js'

export {
  AccessControl, type AccessSettings, type DefaultPolicy, type GrantRule, type Permission,
} from './lib/access/access-control.js'
export type { Actor, BankKey, RequestContext } from './lib/access/context.js'

export { createMemoryService, type MemoryOverrides, type MemoryService } from './lib/operations/memory-service.js'
export type * from './lib/operations/schemas.js'

export type { EmbedOptions, EmbeddingProvider } from './lib/models/embedding-provider.js'
export type * from './lib/models/language-model.js'
export type { Reranker } from './lib/models/reranker.js'
export type * from './lib/stores/vector-store.js'
export type { Clock } from './lib/base/clock.js'
