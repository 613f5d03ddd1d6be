/** Writes openapi.json, the document of all routes. Run: npx tsx scripts/write-openapi.ts */
import { writeFileSync } from 'node:fs'
import { OPENAPI_FILE, openApiText } from './openapi-document.js'

writeFileSync(OPENAPI_FILE, await openApiText())
