/** Writes what is generated from lib/config: docs/configuration.md and .env.example. Run: npx tsx scripts/write-config-docs.ts */
import { writeFileSync } from 'node:fs'
import { configurationReference, envExample } from '../lib/config/reference.js'

const root = new URL('../', import.meta.url)
writeFileSync(new URL('docs/configuration.md', root), configurationReference())
writeFileSync(new URL('.env.example', root), envExample())
