import { readFileSync } from 'node:fs'
import { stringify } from 'yaml'
import { missingVariables } from '../../http/missing-auth-variables.js'
import type { Config } from '../../lib/config/config.js'
import { loadAuth } from '../../lib/config/environment.js'
import { ConfigurationError } from '../../lib/config/problems.js'
import { FileSchema } from '../../lib/config/schema.js'
import { VARIABLES } from '../../lib/config/variables.js'
import { readYaml } from '../../lib/config/file.js'
import { PROVIDER_SETTINGS } from '../../lib/config/providers/schemas.js'
import { withDefaults } from '../../lib/base/defaults.js'
import { isJsonObject } from '../../lib/base/json-object.js'
import type { SchemaNode } from '../../lib/base/schema-node.js'
import { recordOf } from '../answers.js'
import { checkedConfig } from '../config/check.js'
import { applyConfiguration, type ConfigOptions } from '../configuration.js'
import { EXIT } from '../failures.js'
import { note, write, writeJson, writeLine } from '../output.js'

const HIDDEN = '(not shown)'
/** Settings whose value may be a secret. */
const SENSITIVE = /secret|passw|pwd|token$|key$|^key|dsn|credential|private/i
/** A URL with a user or a query, either of which may contain a key. */
const URL_WITH_CREDENTIALS = /:\/\/(?:[^\s/]*@|[^\s?]*\?)/
const REFERENCE = /\$\{/
/** A text that shows nothing of a secret, because it consists of references. */
const ONLY_REFERENCES = /^(?:\$\{[^}]*\}\s*)+$/
/** Maps of providers whose values may all be secrets, under any name. */
const SENSITIVE_MAP = /^(?:headers|query_params)$/
/** Names of variables and lists of keys are not secrets. */
const NAMES_ONLY = /(?:_env|_keys)$/

interface Effective {
  /** Variables with their values or defaults; of a secret only the fact that it is set. */
  environment: Record<string, string>
  /** The file with every default filled in. A value from a variable is shown as the reference to the variable. */
  file: unknown
}

/**
 * The settings in force, without secrets.
 * @param config validated
 * @param path of its file, when it has one
 */
function effectiveConfig (config: Config, environment: NodeJS.ProcessEnv, path: string | undefined): Effective {
  // The texts as they are, with the keys that the configuration has: 007 is one, and another parser makes it 7.
  const written = path === undefined ? {} : readYaml(readFileSync(path, 'utf8'), FileSchema, path, (text) => text, [])
  return { environment: variables(environment), file: shown(withDefaults(FileSchema, config.file), written, '', false) }
}

function variables (environment: NodeJS.ProcessEnv): Record<string, string> {
  const found: Record<string, string> = {}
  for (const { name, secret, ...rest } of VARIABLES) {
    const value = environment[name]
    const fallback = 'default' in rest ? rest.default : undefined
    if (value !== undefined) found[name] = secret || URL_WITH_CREDENTIALS.test(value) ? HIDDEN : value
    else if (secret && environment[`${name}_FILE`] !== undefined) found[name] = `${HIDDEN}, from ${name}_FILE`
    else if (fallback !== undefined) found[name] = fallback
  }
  return found
}

/**
 * @param written the value at the same place of the file, before variables were substituted
 * @param isHidden whether it stands in a map of secrets
 */
function shown (value: unknown, written: unknown, key: string, isHidden: boolean): unknown {
  const isSecretKey = SENSITIVE.test(key) && !NAMES_ONLY.test(key)
  const reference = isHidden || isSecretKey ? ONLY_REFERENCES : REFERENCE
  if (typeof written === 'string' && reference.test(written)) return written
  if (Array.isArray(value)) {
    return value.map((item, index) => shown(item, Array.isArray(written) ? written[index] : undefined, key, isHidden))
  }
  if (typeof value === 'object' && value !== null) {
    const below = recordOf(written)
    const hides = isHidden || SENSITIVE_MAP.test(key)
    return Object.fromEntries(Object.entries(value).map(([name, child]) => (
      [name, shown(child, below[name], name, hides)]
    )))
  }
  if (isHidden) return HIDDEN
  if (typeof value !== 'string') return value
  return isSecretKey || URL_WITH_CREDENTIALS.test(value) ? HIDDEN : value
}

/** A text in the file that is replaced by the value of a variable, which may be of any type. */
const REFERENCE_SCHEMA = { type: 'string', pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}' }

type Schema = Readonly<Record<string, unknown>>

/** The JSON Schema (draft-07) of the configuration file. With it an editor completes keys and shows what they mean. */
function fileJsonSchema (): Schema {
  const { properties, ...rest } = asSchema(FileSchema)
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Memory Gateway configuration file',
    ...rest,
    properties,
    allOf: PROVIDER_SETTINGS.map(({ key, name, schema }) => ({
      if: { properties: { [key]: { const: name } }, required: [key] },
      then: { properties: { [`${key}_config`]: asSchema(schema) } },
    })),
  }
}

/** A section may be empty, which counts as absent, so null is allowed. Our annotations are omitted. */
function asSchema (node: SchemaNode): Schema {
  const plain: unknown = JSON.parse(JSON.stringify(node))
  return toSchema(plain)
}

function toSchema (value: unknown): Schema {
  if (!isJsonObject(value)) return {}
  const { description, default: fallback, ...rest } = withoutAnnotations(value)
  const annotations = { description, default: fallback }
  if (isJsonObject(rest['properties']) || isJsonObject(rest['patternProperties'])) {
    return { ...annotations, ...rest, ...childrenOf(rest), type: ['object', 'null'] }
  }
  if (isJsonObject(rest['items'])) {
    return { ...annotations, ...rest, items: toSchema(rest['items']), type: ['array', 'null'] }
  }
  if (Array.isArray(rest['anyOf'])) return { ...annotations, ...rest, anyOf: rest['anyOf'].map(toSchema) }
  return takesAnyText(rest) ? { ...annotations, ...rest } : { ...annotations, anyOf: [rest, REFERENCE_SCHEMA] }
}

function childrenOf ({ properties, patternProperties }: Schema): Schema {
  const all = (map: Schema) => Object.fromEntries(Object.entries(map).map(([key, child]) => [key, toSchema(child)]))
  return {
    ...(isJsonObject(properties) && { properties: all(properties) }),
    ...(isJsonObject(patternProperties) && { patternProperties: all(patternProperties) }),
  }
}

/** Whether a reference to a variable already satisfies the schema. */
function takesAnyText ({ type, enum: values, pattern, const: constant, maxLength }: Schema): boolean {
  if (values !== undefined || pattern !== undefined || constant !== undefined || maxLength !== undefined) return false
  return type === undefined || type === 'string' || type === 'object'
}

function withoutAnnotations (value: Schema): Schema {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !key.startsWith('x-')))
}

interface ConfigCommandOptions extends ConfigOptions {
  json?: boolean
}

/** Reports every problem; exit code 1 when there is one. */
export async function checkConfig (options: ConfigCommandOptions): Promise<void> {
  try {
    applyConfiguration(options)
    const warnings = checkedWarnings()
    if (options.json === true) return await writeJson({ ok: true, problems: [], warnings })
    for (const warning of warnings) note(`warning: ${warning}`)
    await writeLine(`${process.env['SERVICES_CONFIG_PATH'] ?? 'the environment'}: the configuration is valid`)
  } catch (error) {
    if (!(error instanceof ConfigurationError) || options.json !== true) throw error
    await writeJson({ ok: false, problems: error.problems, warnings: [] })
    process.exitCode = EXIT.failed
  }
}

/**
 * The warnings of the configuration. A server without the secret of its auth mode starts, but answers every request
 * with 500, so that it lacks one is a problem here.
 * @throws ConfigurationError
 */
function checkedWarnings (): string[] {
  let warnings: string[] = []
  const problems: string[] = []
  try {
    ({ warnings } = checkedConfig(process.env))
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    problems.push(...error.problems)
  }
  const auth = loadAuth(process.env)
  const missing = auth === undefined ? [] : missingVariables(auth)
  if (missing.length > 0) {
    problems.push(`${missing.join(', ')} not set: SERVICE_AUTH_MODE ${auth?.mode} answers every request with 500`)
  }
  if (problems.length > 0) throw new ConfigurationError(problems)
  return warnings
}

export async function showConfig (options: ConfigCommandOptions): Promise<void> {
  applyConfiguration(options)
  const effective = effectiveConfig(checkedConfig(process.env), process.env, process.env['SERVICES_CONFIG_PATH'])
  if (options.json === true) await writeJson(effective)
  else {
    await write(`# environment\n${stringify(effective.environment)}\n# configuration ` +
    `file\n${stringify(effective.file)}`)
  }
}

export async function writeSchema (): Promise<void> {
  await write(`${JSON.stringify(fileJsonSchema(), null, 2)}\n`)
}
