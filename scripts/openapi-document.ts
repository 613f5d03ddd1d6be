import { buildApp } from '../app.js'
import { loadConfig } from '../lib/config/load.js'

/** The committed document, which has the credentials of every auth mode. */
export const OPENAPI_FILE = new URL('../openapi.json', import.meta.url)

/** The text of the committed document, generated from the routes of this source tree. No port is opened. */
export async function openApiText (): Promise<string> {
  const app = await buildApp(loadConfig({ SERVICES_LOG_LEVEL: 'silent' }))
  try {
    await app.ready()
    return `${JSON.stringify(app.openApiDocumentOfEveryMode(), null, 2)}\n`
  } finally {
    await app.close()
  }
}
