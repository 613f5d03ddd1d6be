/**
 * Writes what is generated from lib/config and the settings of providers: docs/configuration.md and .env.example. Run:
 * npx tsx scripts/write-config-docs.ts
 */
import { writeFileSync } from 'node:fs'
import { configurationReference, envExample } from '../lib/config/reference.js'
import { PROVIDER_SETTINGS } from './provider-settings.js'

const root = new URL('../', import.meta.url)
writeFileSync(new URL('docs/configuration.md', root), configurationReference(PROVIDER_SETTINGS))
writeFileSync(new URL('.env.example', root), envExample())
