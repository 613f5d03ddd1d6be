import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { fileChanges, type FileChanges } from '../lib/config/changes.js'
import { ConfigurationError } from '../lib/config/load.js'
import type { Config } from '../lib/config/config.js'
import { ServiceError } from '../lib/errors/service-error.js'
import { ProviderError } from '../lib/providers/registry.js'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Reads the configuration again and applies all changes of the file, or none.
     * @throws ServiceError configuration_invalid, restart_required, not_supported; nothing has changed then
     */
    reloadConfiguration (): Pick<FileChanges, 'changed'>
  }
}

interface ReloadOptions {
  config: Config
  /** Whether an app authenticates the callers in place of the auth mode. */
  hasOwnCallers: boolean
  /** Reads the configuration again; undefined when the gateway was not started from files. */
  load: (() => Config) | undefined
}

/** Logs the warnings of the configuration, and reads it again when it is asked to. */
async function reload (app: FastifyInstance, { config, hasOwnCallers, load }: ReloadOptions): Promise<void> {
  let inForce = config.file
  let warnings: readonly string[] = []
  const warn = ({ warnings: all, callerWarnings = [] }: Config) => {
    const next = all.filter((warning) => !(hasOwnCallers && callerWarnings.includes(warning)))
    for (const warning of next.filter((one) => !warnings.includes(one))) app.log.warn(warning)
    warnings = next
  }
  const reloadConfiguration = (): Pick<FileChanges, 'changed'> => {
    if (load === undefined) {
      throw new ServiceError(
        'not_supported', 'This gateway was started without a configuration that could be read again',
      )
    }
    const next = withConfigurationErrors(load)
    const outside = changedSecrets(config, next)
    const { changed, restartRequired: keys } = fileChanges(inForce, next.file)
    const restartRequired = [...keys, ...outside]
    if (restartRequired.length > 0) {
      throw new ServiceError('restart_required', 'Nothing was changed: a restart is needed for ' +
        `${restartRequired.join(', ')}`, {
        members: { changed: [...changed, ...outside], restart_required: restartRequired },
      })
    }
    withConfigurationErrors(() => { app.memory.replaceFile(next) })
    inForce = next.file
    warn(next)
    return { changed }
  }
  warn(config)
  app.decorate('reloadConfiguration', () => {
    try {
      const { changed } = reloadConfiguration()
      app.log.info({ changed }, 'the configuration was read again')
      return { changed }
    } catch (error) {
      const { problems, restart_required: restartRequired } = error instanceof ServiceError ? error.members : {}
      app.log.error({ problems, restart_required: restartRequired }, 'the configuration was not changed')
      throw error
    }
  })
}

/** @returns the names of the variables whose secrets were read from files and have other values now */
function changedSecrets (before: Config, after: Config): string[] {
  const secrets = ({ auth, adminToken, database, environment = {} }: Config): Record<string, string | undefined> => ({
    SERVICE_API_KEY: auth.apiKey,
    SERVICE_JWT_SECRET: auth.jwtSecret,
    SERVICE_ADMIN_TOKEN: adminToken,
    [database.variable ?? 'DATABASE_URL']: database.url,
    ...environment,
  })
  const [old, next] = [secrets(before), secrets(after)]
  return [...new Set([...Object.keys(old), ...Object.keys(next)])].filter((name) => old[name] !== next[name])
}

/** Turns an error of the configuration into a 409 that lists the problems. Only operators can reload. */
function withConfigurationErrors<T> (work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof ConfigurationError || error instanceof ProviderError)) throw error
    const problems = error instanceof ConfigurationError ? error.problems : [error.message]
    throw new ServiceError('configuration_invalid', 'Nothing was changed: the configuration has problems', {
      members: { problems },
      cause: error,
    })
  }
}

export default fp(reload, { name: 'reload', fastify: '5.x', dependencies: ['errors', 'memory'] })
