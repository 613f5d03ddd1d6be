import { readFile } from 'node:fs/promises'
import openapiTypes, { astToString, type OpenAPI3, type ResponsesObject } from 'openapi-typescript'
import { buildApp } from '../../../app.js'
import { testConfig } from '../../../test/helpers/config.js'

/** The committed file of generated types. */
export const GENERATED = new URL('../src/generated/openapi.ts', import.meta.url)

const HEAD = `/*
 * Made from the gateway's OpenAPI document by \`npm run generate -w packages/client\`. It is not edited by hand.
 */

`

/** The types of the OpenAPI document that this source tree serves. Nothing is listened on. */
export async function typesOfDocument (): Promise<string> {
  const app = await buildApp(testConfig({ logLevel: 'silent' }))
  try {
    await app.ready()
    const document = withoutErrors(JSON.parse(app.openApiDocument().toString()) as OpenAPI3)
    return HEAD + astToString(await openapiTypes(document, { emptyObjectsUnknown: true }))
  } finally {
    await app.close()
  }
}

/**
 * The document without the answers from status 400 up. They are all the schema `Error`, and hundreds of them would be
 * nine tenths of the types.
 */
function withoutErrors (document: OpenAPI3): OpenAPI3 {
  for (const path of Object.values(document.paths ?? {})) {
    for (const operation of Object.values(path)) {
      const { responses } = operation as { responses?: ResponsesObject }
      for (const status of Object.keys(responses ?? {})) if (Number(status) >= 400) delete responses![status]
    }
  }
  return document
}

/** @returns undefined when the file is not there */
export async function committedTypes (file: URL = GENERATED): Promise<string | undefined> {
  return await readFile(file, 'utf8').catch(() => undefined)
}
