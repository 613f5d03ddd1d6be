import closeWithGrace from 'close-with-grace'
import type { FastifyInstance } from 'fastify'
import { buildApp } from './app.js'
import { ConfigurationError, loadConfig } from './lib/config/load.js'
import type { Config } from './lib/config/schema.js'
import { ProviderError } from './lib/providers.js'

/** An address that cannot be listened on. */
class ListenError extends Error {
  constructor ({ host, port }: Config, cause: unknown) {
    const { code } = cause as NodeJS.ErrnoException
    const reason = code === 'EADDRINUSE' ? 'the port is in use' : code === 'EADDRNOTAVAIL' ? 'this machine has no such address' : cause instanceof Error ? cause.message : String(cause)
    super(`SERVICES_HOST, SERVICES_PORT: cannot listen on ${host}, port ${port}: ${reason}`, { cause })
  }
}

/** Faults of the configuration, of providers and of the address are for the operator: said in words, without a stack. */
function refuse (error: unknown): never {
  const known = error instanceof ConfigurationError || error instanceof ProviderError || error instanceof ListenError
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
  await app.ready()
  try {
    // For the name localhost Fastify opens a second server on ::1, whose requests a graceful stop would not wait for.
    await app.listen({ host: config.host === 'localhost' ? '127.0.0.1' : config.host, port: config.port })
  } catch (error) {
    throw new ListenError(config, error)
  }
} catch (error) {
  refuse(error)
}
