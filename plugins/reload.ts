import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../lib/config/config.js'
import { ServiceError } from '../lib/base/service-error.js'
import { ProviderError } from '../lib/config/providers/registry.js'
import { isDeepStrictEqual } from 'node:util'
import { formatPath, ConfigurationError, type Path } from '../lib/config/problems.js'
import type { FileConfig } from '../lib/config/schema.js'
import { isJsonObject } from '../lib/base/json-object.js'

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

/** Keys that are read at the start only, because providers, plugins or routes are built from them. */
export const RESTART_KEYS: ReadonlyArray<readonly string[]> = [
  ['vector_store'], ['vector_store_config'], ['llm_provider'], ['llm_provider_config'], ['embedding_provider'],
  ['embedding_provider_config'], ['reranker'], ['reranker_config'], ['retrieval', 'weights', 'semantic'],
  ['escalation', 'circuit_breaker'], ['identity', 'obo_enabled'], ['sources'], ['bounds'], ['mcp'],
  ['console'], ['limits_store'],
]

/** The differences between two configuration files. */
interface FileChanges {
  /** Paths of values that were added, removed or changed, in the order of the files. Never a value. */
  changed: string[]
  /** Those of them that need a restart. */
  restartRequired: string[]
}

export function fileChanges (before: FileConfig, after: FileConfig): FileChanges {
  const paths = differences(before, after, [])
  return {
    changed: paths.map(formatPath),
    restartRequired: paths.filter(needsRestart).map(formatPath),
  }
}

function needsRestart (path: Path): boolean {
  return RESTART_KEYS.some((key) => key.every((part, index) => path[index] === part))
}

/** An absent map counts as an empty one, so a section that is added to the file changes only the values in it. */
function differences (before: unknown, after: unknown, path: Path): Path[] {
  if (isDeepStrictEqual(before, after)) return []
  const [old, next] = [before ?? {}, after ?? {}]
  if (!isJsonObject(old) || !isJsonObject(next)) return [path]
  const keys = new Set([...Object.keys(old), ...Object.keys(next)])
  const below = [...keys].flatMap((key) => differences(old[key], next[key], [...path, key]))
  return below.length > 0 ? below : [path]
}

export default fp(reload, { name: 'reload', fastify: '5.x', dependencies: ['errors', 'memory'] })
