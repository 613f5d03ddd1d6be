/** Writes openapi.json, the document of all routes. `npx tsx scripts/write-openapi.ts` runs it. */
import { writeFileSync } from 'node:fs'
import { OPENAPI_FILE, openApiText } from './openapi-document.js'

writeFileSync(OPENAPI_FILE, await openApiText())
