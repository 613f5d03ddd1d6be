import { setTimeout as delay } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import type { FastifyInstance } from 'fastify'
import { buildApp } from '../app.js'
import { applyEnvFile, ENV_FILE } from '../lib/config/env-file.js'
import { ConfigurationError } from '../lib/config/problems.js'
import type { Config } from '../lib/config/config.js'
import { ServiceError } from '../lib/base/service-error.js'
import { warmUp } from '../lib/operations/memory-service.js'
import { ProviderError } from '../lib/config/providers/registry.js'
import { listenHost, ListenError } from '../http/listen-error.js'
import { checkedConfig } from './config/check.js'
import { endsWithTerminal, onHangup } from './hangup.js'
import { flushLog } from '../plugins/log-destination.js'
import { reportLines, startReport } from '../plugins/start-report.js'

/**
 * Ends the process. Errors of the configuration, of providers and of the address are for the operator, so only their
 * message is printed; any other error is printed with its stack.
 */
function refuse (error: unknown): never {
  flushLog()
  const known = error instanceof ConfigurationError || error instanceof ProviderError || error instanceof ListenError
  console.error(known ? error.message : error)
  process.exit(1)
}

/**
 * Signals of faulty machine code, which end the process at once: a handler would return to the same instruction.
 */
const CRASH_SIGNALS = ['SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGSEGV'] as const

function stopGracefully (app: FastifyInstance, config: Config): void {
  const skip = endsWithTerminal ? [...CRASH_SIGNALS] : [...CRASH_SIGNALS, 'SIGHUP' as const]
  const logger = { error: (message: unknown) => app.log.error(message) }
  const { drainMs, shutdownTimeoutMs } = config
  closeWithGrace({ delay: drainMs + shutdownTimeoutMs, skip, logger }, async ({ signal, err }) => {
    if (err !== undefined) app.log.fatal({ err }, 'stopping after a fault')
    else {
      if (drainMs > 0) {
        app.log.info({ signal }, `draining: not ready any more, and still serving for ${drainMs} ms`)
        app.shutdown.isDraining = true
        await delay(drainMs)
      }
      app.log.info({ signal }, 'stopping: requests in flight finish')
    }
    await app.close()
  })
}

/** Makes SIGHUP reload the configuration; the outcome is logged. */
function reloadOnHangup (app: FastifyInstance): void {
  onHangup(() => {
    try {
      app.reloadConfiguration()
    } catch (error) {
      if (!(error instanceof ServiceError)) app.log.error({ err: error }, 'the configuration was not changed')
    }
  })
}

/** Reports the start: as lines for people on a terminal, elsewhere as one log line for programs. */
function announce (app: FastifyInstance, config: Config, envFile: string | undefined): void {
  const report = startReport(app, config, { envFile, configPath: process.env['SERVICES_CONFIG_PATH'] })
  if (process.stdout.isTTY) process.stdout.write(reportLines(report, config))
  else app.log.info(report, 'Memory Gateway is running')
}

interface ServeOptions {
  /** A file of variables that is read instead of `.env`. */
  envFile?: string | undefined
  /** The data folder of the store pglite. */
  dataFolder?: string | undefined
}

/**
 * Runs the server: reads the configuration, builds the app, listens, and ends the process on a signal. The caller has
 * called `holdHangups`.
 */
export async function serve ({ envFile: envFileName, dataFolder }: ServeOptions = {}): Promise<void> {
  try {
    const envFile = applyEnvFile(process.env, process.cwd(), envFileName)
    const load = () => checkedConfig(process.env, { dataFolder })
    const config = load()
    const app = await buildApp(config, { log: { pretty: process.stdout.isTTY }, reloadConfig: load })
    stopGracefully(app, config)
    await app.ready()
    reloadOnHangup(app)
    warmUp()
    app.openApiDocument()
    try {
      // A burst of connections waits in the backlog; the system may allow fewer. A client that finds the backlog full
      // tries again only after a second.
      await app.listen({ host: listenHost(config.host), port: config.port, backlog: app.bounds.connections })
    } catch (error) {
      throw new ListenError('SERVICES_HOST, SERVICES_PORT', config.host, config.port, error)
    }
    announce(app, config, envFile ? envFileName ?? ENV_FILE : undefined)
  } catch (error) {
    refuse(error)
  }
}
