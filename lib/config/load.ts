import { dirname, resolve } from 'node:path'
import { EnvironmentReader, type Environment } from './environment-reader.js'
import { readSettings, type Settings } from './environment.js'
import { readUtf8, reasonOf, type ReadFile } from './files.js'
import { ConfigurationError, printable, quote } from './problems.js'
import { FileSchema, type Config, type FileConfig } from './schema.js'
import { findStrangers } from './strangers.js'
import { Substitution } from './substitute.js'
import { unusedSettings } from './unused.js'
import { validateFile } from './validate.js'
import { collectWarnings, databaseVariable } from './warnings.js'
import { readYaml } from './yaml-document.js'

export { ConfigurationError } from './problems.js'
export type { Environment } from './environment-reader.js'

export interface LoadOptions {
  /** Where relative paths start. Default: the working directory of the process. */
  cwd?: string
  /** Reads the configuration file and the files of secrets. Default: the file system, strictly UTF-8. */
  readFile?: ReadFile
}

/**
 * Reads and checks the whole configuration, from environment variables and the YAML file that they name.
 * @param env the environment, for instance `process.env`; nothing else is read
 * @returns a deeply frozen value
 * @throws {ConfigurationError} that lists every problem, without the value of any secret
 */
export function loadConfig (env: Environment, options: LoadOptions = {}): Config {
  const { cwd = process.cwd(), readFile = readUtf8 } = options
  const problems: string[] = []
  const reader = new EnvironmentReader(env, readFile, cwd, problems)
  const settings = readSettings(reader, problems)
  const strangers = findStrangers(env)
  problems.push(...strangers.problems)
  const { mode, configPath } = settings
  const file = configPath === undefined ? {} : readFileConfig(configPath, cwd, readFile, reader, problems)
  if (file !== undefined) problems.push(...unusedSettings(file, databaseVariable((name) => reader.isSet(name))))
  const environment = readNamedVariables(file ?? {}, reader, problems)
  // One wrong value can break two rules of the schema, and both say the same sentence.
  if (problems.length > 0 || file === undefined || mode === undefined) throw new ConfigurationError([...new Set(problems)])

  const warnings = [...strangers.warnings, ...collectWarnings(settings, file, (name) => reader.isSet(name))]
  const baseDirectory = configPath === undefined ? cwd : dirname(resolve(cwd, configPath))
  return deepFreeze({ ...assemble(settings, mode, file, baseDirectory, warnings), ...(Object.keys(environment).length > 0 && { environment }) })
}

function readFileConfig (path: string, cwd: string, readFile: ReadFile, reader: EnvironmentReader, problems: string[]): FileConfig | undefined {
  let text: string
  try {
    text = readFile(resolve(cwd, path))
  } catch (error) {
    problems.push(`SERVICES_CONFIG_PATH: found ${quote(path)}, which cannot be read (${reasonOf(error)}), allowed is the path of a YAML file`)
    return undefined
  }
  const substitution = new Substitution(reader, problems)
  const value = readYaml(text, FileSchema, printable(path), (...place) => substitution.apply(...place), problems)
  return value === undefined ? undefined : validateFile(value, substitution, problems)
}

/** What providers look up by a name in their settings; they see no other variable. As for our own secrets, a file may hold the value. */
function readNamedVariables (file: FileConfig, reader: EnvironmentReader, problems: string[]): Record<string, string> {
  const found: Record<string, string> = {}
  for (const settings of [file.vector_store_config, file.llm_provider_config, file.embedding_provider_config, file.reranker_config]) {
    const name = settings?.['api_key_env']
    if (typeof name !== 'string') continue
    const { value, problem } = reader.lookUp(name)
    if (problem !== undefined) problems.push(problem)
    if (value !== undefined) found[name] = value
  }
  return found
}

function assemble (settings: Settings, mode: Config['auth']['mode'], file: FileConfig, baseDirectory: string, warnings: string[]): Config {
  const { auth, allowDevAuth, configPath, mode: _, ...rest } = settings
  return { ...rest, auth: { mode, ...auth }, file: withBareMaps(file), baseDirectory, warnings }
}

/** Banks and sources are looked up by words of callers; without a prototype, `constructor` finds nothing. */
function withBareMaps (file: FileConfig): FileConfig {
  return {
    ...file,
    ...(file.banks !== undefined && { banks: bare(file.banks) }),
    ...(file.sources !== undefined && { sources: bare(file.sources) }),
  }
}

function bare<T> (map: Record<string, T>): Record<string, T> {
  const empty: Record<string, T> = Object.create(null)
  return Object.assign(empty, map)
}

function deepFreeze<T> (value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const child of Object.values(value)) deepFreeze(child)
  }
  return value
}
