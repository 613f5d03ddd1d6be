import closeWithGrace from 'close-with-grace'
import type { FastifyInstance } from 'fastify'
import { buildApp } from './app.js'
import { ConfigurationError, loadConfig } from './lib/config/load.js'
import type { Config } from './lib/config/schema.js'
import { ProviderError } from './lib/providers.js'

/** Configuration and provider faults are for the operator: said in words, without a stack. */
function refuse (error: unknown): never {
  const known = error instanceof ConfigurationError || error instanceof ProviderError
  console.error(known ? error.message : error)
  process.exit(1)
}

function stopGracefully (app: FastifyInstance, config: Config): void {
  closeWithGrace({ delay: config.shutdownTimeoutMs, logger: { error: (message: unknown) => app.log.error(message) } }, async ({ signal, err }) => {
    if (err !== undefined) app.log.fatal({ err }, 'stopping after a fault')
    else app.log.info({ signal }, 'stopping: requests in flight finish')
    await app.close()
  })
}

try {
  const config = loadConfig(process.env)
  const app = await buildApp(config, { log: { pretty: process.stdout.isTTY } })
  stopGracefully(app, config)
  await app.listen({ host: config.host, port: config.port })
} catch (error) {
  refuse(error)
}
