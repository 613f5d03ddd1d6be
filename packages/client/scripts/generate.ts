// Writes the types of the gateway's OpenAPI document to src/generated/openapi.ts.
//   npm run generate -w packages/client            writes the file
//   npm run generate:check -w packages/client      fails when the file is not that of the document
import { mkdir, writeFile } from 'node:fs/promises'
import { committedTypes, GENERATED, typesOfDocument } from './openapi-types.js'

const types = await typesOfDocument()
if (process.argv.includes('--check')) {
  if (types !== await committedTypes()) {
    console.error('src/generated/openapi.ts is not of the present OpenAPI document: npm run generate -w ' +
      'packages/client')
    process.exitCode = 1
  }
} else {
  await mkdir(new URL('.', GENERATED), { recursive: true })
  await writeFile(GENERATED, types)
}
