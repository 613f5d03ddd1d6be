import type { ProviderSettings } from '../lib/config/reference.js'
import { PgliteSettings, PostgresSettings } from '../lib/stores/sql/settings.js'

/** Registered providers with settings, in the order of the reference. */
export const PROVIDER_SETTINGS: readonly ProviderSettings[] = [
  { key: 'vector_store', name: 'postgres', schema: PostgresSettings },
  { key: 'vector_store', name: 'pglite', schema: PgliteSettings },
]
