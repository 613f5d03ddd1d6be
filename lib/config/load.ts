import { hkdfSync } from 'node:crypto'
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { withoutUndefined } from '../base/members.js'
import { settingsOf, type AuthMode, type Config } from './config.js'
import {
  EnvironmentReader, readUtf8, readDatabase, readSettings, type Environment, type ReadFile,
  type EnvironmentSettings,
} from './environment.js'
import { checkFileConfig, readFileConfig, withTypedSettings, type CheckedFile } from './file.js'
import { ConfigurationError, quote } from './problems.js'
import {
  fileProblems, unusedSettings, collectCallerWarnings, collectWarnings, databaseVariable, loopbackDatabaseWarning,
} from './report.js'
import { boundsOf, type FileConfig } from './schema.js'
import { type VariableName, findUnknownVariables } from './variables.js'

export interface LoadOptions {
  /** The configuration as an object, in the place of SERVICES_CONFIG_PATH. No `${NAME}` in it is replaced. */
  file?: FileConfig
  /** Where relative paths start. Default: the working directory of the process. */
  cwd?: string
  /** Reads the configuration file and the files of secrets. Default: the file system, strictly UTF-8. */
  readFile?: ReadFile
  /** Whether a file exists, to detect containers. Default: the file system. */
  exists?: (path: string) => boolean
  /** A folder for the store pglite, relative to `cwd`. The file may name no other store. */
  dataFolder?: string | undefined
  /** Finds problems in the settings of providers, which this module does not check; all are reported together. */
  checkProviders?: (config: ProviderConfiguration) => string[]
}

/** The parts of the configuration on which the settings of providers depend. */
export type ProviderConfiguration =
  CheckedFile & Pick<Config, 'settings' | 'baseDirectory' | 'database' | 'environment'>

/** The parts of the configuration that a command other than the server uses. */
export interface CommandUse {
  /** The keys of the configuration file. */
  keys: ReadonlyArray<keyof FileConfig>
  /** Whether MIGRATE_DATABASE_URL, when set, replaces the server's URI. Default false. */
  migrates?: boolean
}

/** The part of the configuration that a command uses; `file` has only its keys. */
export interface CommandConfig extends Pick<Config, 'file' | 'environment' | 'baseDirectory'> {
  database: Config['database'] & { migrateUrl?: string | undefined }
}

const NO_FILE: CheckedFile = { file: {}, isComplete: true }
/** Files that Docker and Podman create in every container. */
const CONTAINER_FILES = ['/.dockerenv', '/run/.containerenv']

/**
 * Reads and checks the whole configuration, from environment variables and the YAML file that they name.
 * @param env the environment, for instance `process.env`; nothing else is read
 * @returns a deeply frozen value
 * @throws {ConfigurationError} that lists every problem, without the value of any secret
 */
export function loadConfig (env: Environment, options: LoadOptions = {}): Config {
  const { cwd = process.cwd(), readFile = readUtf8, exists = existsSync, dataFolder } = options
  const problems: string[] = []
  const reader = new EnvironmentReader(env, readFile, cwd, problems)
  const settings = readSettings(reader, problems)
  const unknownVariables = findUnknownVariables(env)
  problems.push(...unknownVariables.problems)
  const { mode, configPath, auth } = settings
  const found = options.file === undefined
    ? configPath === undefined ? NO_FILE : readFileConfig(configPath, cwd, readFile, reader, problems)
    : checkFileConfig(options.file, configPath, reader, problems)
  const { isComplete = false, file: given } = found ?? {}
  const stored = given && dataFolder !== undefined ? inFolder(given, resolve(cwd, dataFolder), problems) : given
  const file = stored && withTypedSettings(stored)
  const isSet = (name: VariableName) => reader.isSet(name)
  if (file !== undefined) {
    problems.push(...fileProblems(file, { mode, issuer: auth.oidcIssuer }))
    if (isComplete) problems.push(...unusedSettings(file, databaseVariable(isSet)))
  }
  const environment = readNamedVariables(file ?? {}, reader, problems)
  if (file !== undefined) {
    problems.push(...options.checkProviders?.({
      file,
      isComplete,
      settings: settingsOf(file),
      baseDirectory: baseOf(configPath, cwd),
      database: readableDatabase(settings, databaseVariable(isSet)),
      environment,
    }) ?? [])
  }
  // One wrong value can violate two rules of the schema with the same message.
  if (problems.length > 0 || file === undefined || mode === undefined) {
    throw new ConfigurationError([...new Set(problems)])
  }
  const warnings = [
    ...unknownVariables.warnings, ...collectWarnings(settings, file, isSet, env),
    ...loopbackDatabaseWarning(settings, file, isSet, isInContainer(env, exists)),
  ]
  return deepFreeze({ ...assemble(settings, mode, file, baseOf(configPath, cwd), warnings), environment })
}

/**
 * Reads and checks only what a command uses, so that wrong settings of the server, such as a missing key, do not stop
 * a command that does not need them.
 * @returns a deeply frozen value
 * @throws {ConfigurationError} as `loadConfig`
 */
export function loadCommandConfig (
  env: Environment, { keys, migrates = false }: CommandUse, options: LoadOptions = {},
): CommandConfig {
  const { cwd = process.cwd(), readFile = readUtf8 } = options
  const problems: string[] = []
  const reader = new EnvironmentReader(env, readFile, cwd, problems)
  const variables: VariableName[] = ['SERVICES_CONFIG_PATH', 'DATABASE_URL', 'SERVICES_PG_DSN']
  if (migrates) variables.push('MIGRATE_DATABASE_URL')
  problems.push(...findUnknownVariables(env, variables).problems)
  const configPath = reader.text('SERVICES_CONFIG_PATH')
  const migrateUrl = migrates ? reader.secret('MIGRATE_DATABASE_URL') : undefined
  const database = migrates && reader.isSet('MIGRATE_DATABASE_URL') ? {} : readDatabase(reader, problems)
  const found = configPath === undefined ? NO_FILE : readFileConfig(configPath, cwd, readFile, reader, problems, keys)
  const environment = readNamedVariables(found?.file ?? {}, reader, problems)
  if (problems.length > 0 || found === undefined) throw new ConfigurationError([...new Set(problems)])
  return deepFreeze({
    file: withTypedSettings(found.file),
    baseDirectory: baseOf(configPath, cwd),
    database: migrateUrl === undefined ? database : { ...database, migrateUrl },
    environment,
  })
}

/** Adds the store pglite with its folder to the file. */
function inFolder (file: FileConfig, folder: string, problems: string[]): FileConfig {
  const { vector_store: store = 'pglite', vector_store_config: config = {} } = file
  if (store !== 'pglite') {
    problems.push(`vector_store: found ${quote(store)}, but a folder for memories (--data) requires pglite; remove ` +
      'one of them')
  }
  return { ...file, vector_store: 'pglite', vector_store_config: { ...config, data_dir: folder } }
}

/** The folder that relative paths of providers start at. */
function baseOf (configPath: string | undefined, cwd: string): string {
  return configPath === undefined ? cwd : dirname(resolve(cwd, configPath))
}

/** Kubernetes creates no such file, but sets a variable with the address of its API. */
function isInContainer (env: Environment, exists: (path: string) => boolean): boolean {
  const isInKubernetes = Object.hasOwn(env, 'KUBERNETES_SERVICE_HOST') && env['KUBERNETES_SERVICE_HOST'] !== undefined
  return isInKubernetes || CONTAINER_FILES.some((path) => exists(path))
}

/**
 * The variables that the settings of providers name, directly or through their files; a provider sees no other
 * variable.
 */
function readNamedVariables (
  file: FileConfig, reader: EnvironmentReader, problems: string[],
): Record<string, string> | undefined {
  const found: Record<string, string> = {}
  const { vector_store_config: store, llm_provider_config: languageModel } = file
  for (const settings of [store, languageModel, file.embedding_provider_config, file.reranker_config]) {
    const name = settings?.['api_key_env']
    if (typeof name !== 'string') continue
    const { value, problem } = reader.lookUp(name)
    if (problem !== undefined) problems.push(problem)
    // Some value, so that the check of the provider does not report the variable a second time as one that is not set.
    if (value !== undefined || problem !== undefined) found[name] = value ?? 'unknown'
  }
  return Object.keys(found).length > 0 ? found : undefined
}

/** With some URI in the place of one that cannot be read, for the same reason. */
function readableDatabase ({ database }: EnvironmentSettings, variable: string | undefined): Config['database'] {
  return database.url === undefined && variable !== undefined ? { url: 'postgres://unknown/unknown' } : database
}

function assemble (
  settings: EnvironmentSettings, mode: AuthMode, file: FileConfig, baseDirectory: string, warnings: string[],
): Config {
  const { auth, configPath, mode: _, ...rest } = settings
  const safeFile = withNullPrototypeMaps(file)
  const callerWarnings = collectCallerWarnings(settings, file)
  return {
    ...rest,
    auth: { mode, ...auth },
    cursorKey: cursorKeyOf(settings),
    file: safeFile,
    settings: settingsOf(safeFile),
    bounds: boundsOf(safeFile.bounds),
    baseDirectory,
    warnings,
    callerWarnings,
  }
}

function deepFreeze<T> (value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const child of Object.values(value)) deepFreeze(child)
  }
  return value
}

const KEY_BYTES = 32
/** A change of it voids the cursors that clients hold. */
const PURPOSE = 'memory-gateway cursors 1'

/**
 * Derives the key of cursors (HKDF, RFC 5869) from all secrets of the process together, so that no caller who knows one
 * of them has it. The password of the database counts, because a mode without a secret has often only that.
 * @returns 64 hexadecimal digits; undefined when there is no secret
 */
function cursorKeyOf (
  { auth, adminToken, database }: Pick<Config, 'adminToken' | 'database'> & {
    auth: Pick<Config['auth'], 'apiKey' | 'jwtSecret'>
  },
): string | undefined {
  const secrets = [auth.apiKey, auth.jwtSecret, adminToken, passwordOf(database.url)]
  if (secrets.every((secret) => secret === undefined)) return undefined
  const all = JSON.stringify(secrets.map((secret) => secret ?? null))
  return Buffer.from(hkdfSync('sha256', all, '', PURPOSE, KEY_BYTES)).toString('hex')
}

function passwordOf (url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined
  const { password } = new URL(url)
  return password === '' ? undefined : password
}

/** Callers send the names of banks and sources; in maps without a prototype, `constructor` finds nothing. */
function withNullPrototypeMaps (file: FileConfig): FileConfig {
  return {
    ...file,
    ...withoutUndefined({
      banks: file.banks && withNullPrototype(file.banks), sources: file.sources && withNullPrototype(file.sources),
    }),
  }
}

function withNullPrototype<T> (map: Record<string, T>): Record<string, T> {
  const empty: Record<string, T> = Object.create(null)
  return Object.assign(empty, map)
}
