import { buildApp } from '../app.js'
import { loadConfig } from '../lib/config/load.js'

/** The committed document, which has the credentials of every auth mode. */
export const OPENAPI_FILE = new URL('../openapi.json', import.meta.url)

/** The text of the committed document, generated from the routes of this source tree. No port is opened. */
export async function openApiText (): Promise<string> {
  const { settings, ...config } = loadConfig({ SERVICES_LOG_LEVEL: 'silent' })
  // The console is built with the client, whose methods are generated from this document.
  const app = await buildApp({ ...config, settings: { ...settings, console: { ...settings.console, enabled: false } } })
  try {
    await app.ready()
    return `${JSON.stringify(app.openApiDocumentOfEveryMode(), null, 2)}\n`
  } finally {
    await app.close()
  }
}
