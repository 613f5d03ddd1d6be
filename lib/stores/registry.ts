import type { ProviderKind } from '../config/providers/registry.js'
import { InMemorySettings } from '../config/providers/schemas/stores.js'
import { settingsCheck } from '../config/providers/settings.js'
import { InMemoryVectorStore } from './in-memory/store.js'
import { VECTOR_STORE_METHODS, type VectorStore } from './vector-store.js'

const inMemorySettings = settingsCheck('vector_store_config', InMemorySettings)

export const vectorStores: ProviderKind<VectorStore> = {
  key: 'vector_store',
  methods: VECTOR_STORE_METHODS,
  registered: {
    in_memory: (config) => new InMemoryVectorStore({ maximumBytes: inMemorySettings(config).max_bytes }),
    // Imported on demand: a start without a database should not load its drivers.
    postgres: async (config, context) => (await import('./sql/providers.js')).makePostgresStore(config, context),
    pglite: async (config, context) => await (await import('./sql/providers.js')).makePgliteStore(config, context),
  },
}
