import { readFile } from 'node:fs/promises'
import openapiTypes, { astToString } from 'openapi-typescript'
import { buildApp } from '../../../app.js'
import { testConfig } from '../../../test/helpers/config.js'
import { clientOf, type Document } from './operations.js'

/** The folder of the committed files. */
export const GENERATED = new URL('../src/generated/', import.meta.url)

const HEAD = `/*
 * Made from the gateway's OpenAPI document by \`npm run generate -w packages/client\`. It is not edited by hand.
 */

`

/** The files, by name, of the OpenAPI document that this source tree serves. Nothing is listened on. */
export async function generatedFiles (): Promise<Record<string, string>> {
  // The console is built with the client.
  const app = await buildApp(testConfig({ logLevel: 'silent', file: { console: { enabled: false } } }))
  try {
    await app.ready()
    const served = app.openApiDocument().toString()
    const { types, operations } = clientOf(JSON.parse(served) as Document)
    const ast = await openapiTypes(withoutErrors(JSON.parse(served) as Document), { emptyObjectsUnknown: true })
    return { 'openapi.ts': HEAD + astToString(ast), 'types.ts': types, 'operations.ts': operations }
  } finally {
    await app.close()
  }
}

/**
 * The document without the answers from status 400 up. They are all the schema `Error`, and hundreds of them would be
 * nine tenths of the types.
 */
function withoutErrors (document: Document): string {
  for (const { responses } of Object.values(document.paths).flatMap((path) => Object.values(path))) {
    for (const status of Object.keys(responses)) if (Number(status) >= 400) Reflect.deleteProperty(responses, status)
  }
  return JSON.stringify(document)
}

/** @returns undefined when the file is not there */
export async function committedFile (name: string): Promise<string | undefined> {
  return await readFile(new URL(name, GENERATED), 'utf8').catch(() => undefined)
}
