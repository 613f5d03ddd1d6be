// Writes the types and methods of the gateway's OpenAPI document to src/generated.
//   npm run generate -w packages/client            writes the files
//   npm run generate:check -w packages/client      fails when one is not that of the document
import { mkdir, writeFile } from 'node:fs/promises'
import { committedFile, GENERATED, generatedFiles } from './generated.js'

const isCheck = process.argv.includes('--check')
await mkdir(GENERATED, { recursive: true })
for (const [name, text] of Object.entries(await generatedFiles())) {
  if (!isCheck) {
    await writeFile(new URL(name, GENERATED), text)
  } else if (text !== await committedFile(name)) {
    console.error(`src/generated/${name} is not of the present OpenAPI document: npm run generate -w packages/client`)
    process.exitCode = 1
  }
}
