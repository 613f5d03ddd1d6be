import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Config } from '../lib/config/config.js'
import { ConfigurationError, loadConfig } from '../lib/config/load.js'
import { settingsOf } from '../lib/config/settings.js'
import { ServiceError } from '../lib/errors/service-error.js'
import { ProviderError } from '../lib/providers/registry.js'
import { packageFile } from '../lib/resources/package-file.js'
import { runMcpStdio } from '../mcp/stdio.js'

/*
 * The Model Context Protocol over standard input and output. With MEMORY_GATEWAY_URL it stands in front of that server,
 * with the credentials in MEMORY_GATEWAY_API_KEY or MEMORY_GATEWAY_TOKEN; otherwise it opens the configured store, or
 * the folder of --data. docs/mcp.md has the details.
 */
const { values: { data, bank } } = parseArgs({ options: { data: { type: 'string' }, bank: { type: 'string' } } })

function inFolder (config: Config, folder: string): Config {
  const file = { ...config.file, vector_store: 'pglite', vector_store_config: { data_dir: resolve(folder) } }
  return { ...config, file, settings: settingsOf(file) }
}

try {
  const { version }: { version?: unknown } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'))
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => { stop.abort() })
  const common = { version: String(version), bankId: bank, signal: stop.signal }
  const {
    MEMORY_GATEWAY_URL: url, MEMORY_GATEWAY_API_KEY: apiKey, MEMORY_GATEWAY_TOKEN: token,
    MEMORY_GATEWAY_PRINCIPAL: principal,
  } = process.env
  if (url !== undefined && data === undefined) {
    await runMcpStdio({ ...common, source: 'server', server: { url, apiKey, token, principal } })
  } else {
    const config = loadConfig(process.env)
    const chosen = data === undefined ? config : inFolder(config, data)
    await runMcpStdio({ ...common, source: 'embedded', config: chosen, principal })
  }
} catch (error) {
  const isKnown = error instanceof ConfigurationError || error instanceof ProviderError || error instanceof ServiceError
  console.error(isKnown ? error.message : error)
  process.exitCode = 1
}
