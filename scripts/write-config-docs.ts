/**
 * Generates docs/configuration.md and .env.example from lib/config and the settings of providers.
 * `npx tsx scripts/write-config-docs.ts` runs it.
 */
import { writeFileSync } from 'node:fs'
import { configurationReference, envExample } from './config-reference.js'

const root = new URL('../', import.meta.url)
writeFileSync(new URL('docs/configuration.md', root), configurationReference())
writeFileSync(new URL('.env.example', root), envExample())
