import closeWithGrace from 'close-with-grace'
import type { FastifyInstance } from 'fastify'
import { buildApp } from '../app.js'
import { applyEnvFile, ENV_FILE } from '../lib/config/env-file.js'
import { ConfigurationError, loadConfig } from '../lib/config/load.js'
import type { Config } from '../lib/config/schema.js'
import { ServiceError } from '../lib/errors/service-error.js'
import { ProviderError } from '../lib/providers/registry.js'
import { loadDateParser } from '../lib/retrieval/dates.js'
import { loadVocabulary } from '../lib/text/tokens.js'
import { listenHost, ListenError } from '../http/listen-error.js'
import { reportLines, startReport } from '../plugins/start-report.js'

/**
 * Faults of the configuration, of providers and of the address are for the operator: said in words, without a stack.
 */
function refuse (error: unknown): never {
  const known = error instanceof ConfigurationError || error instanceof ProviderError || error instanceof ListenError
  console.error(known ? error.message : error)
  process.exit(1)
}

/**
 * Faults of the machine code end the process at once: a handler would return to the same instruction, again and again.
 */
const FAULTS = ['SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGSEGV'] as const

/**
 * A terminal that is closed hangs up, and what runs in it ends; a service is told by the same signal to read its
 * configuration again.
 */
const endsWithTerminal = process.stdin.isTTY || process.stdout.isTTY

function stopGracefully (app: FastifyInstance, config: Config): void {
  const skip = endsWithTerminal ? [...FAULTS] : [...FAULTS, 'SIGHUP' as const]
  const logger = { error: (message: unknown) => app.log.error(message) }
  closeWithGrace({ delay: config.shutdownTimeoutMs, skip, logger }, async ({ signal, err }) => {
    if (err !== undefined) app.log.fatal({ err }, 'stopping after a fault')
    else app.log.info({ signal }, 'stopping: requests in flight finish')
    await app.close()
  })
}

/** SIGHUP reads the configuration again; what came of it is in the log. */
function reloadOnHangup (app: FastifyInstance): void {
  if (endsWithTerminal) return
  process.on('SIGHUP', () => {
    try {
      app.reloadConfiguration()
    } catch (error) {
      if (!(error instanceof ServiceError)) app.log.error({ err: error }, 'the configuration was not taken over')
    }
  })
}

/** A terminal has people in front of it; everything else gets one line that programs can read. */
function announce (app: FastifyInstance, config: Config, envFile: string | undefined): void {
  const report = startReport(app, config, { envFile, configPath: process.env['SERVICES_CONFIG_PATH'] })
  if (process.stdout.isTTY) process.stdout.write(reportLines(report, config))
  else app.log.info(report, 'Memory Gateway is running')
}

export interface ServeOptions {
  /** A file of variables that is read in the place of `.env`. */
  envFile?: string
  /** A folder that memories are kept in, with the store pglite. */
  dataFolder?: string
}

/** The process of the server: reads the configuration, builds the app, listens, and closes with grace. */
export async function serve ({ envFile: envFileName, dataFolder }: ServeOptions = {}): Promise<void> {
  try {
    const envFile = applyEnvFile(process.env, process.cwd(), envFileName)
    const load = () => loadConfig(process.env, dataFolder === undefined ? {} : { dataFolder })
    const config = load()
    const app = await buildApp(config, { log: { pretty: process.stdout.isTTY }, reloadConfig: load })
    stopGracefully(app, config)
    reloadOnHangup(app)
    await app.ready()
    // What takes long to load and cannot be cut into pieces is there before the first request.
    loadVocabulary()
    loadDateParser()
    app.openApiDocument()
    try {
      // A crowd that comes at once finds room to wait: who finds none tries again only after a second. The system may
      // allow less.
      await app.listen({ host: listenHost(config.host), port: config.port, backlog: app.bounds.connections })
    } catch (error) {
      throw new ListenError('SERVICES_HOST, SERVICES_PORT', config.host, config.port, error)
    }
    announce(app, config, envFile ? envFileName ?? ENV_FILE : undefined)
  } catch (error) {
    refuse(error)
  }
}
