import { readFileSync } from 'node:fs'
import { recordOf } from '../answers.js'
import type { Config } from '../../lib/config/config.js'
import { FileSchema } from '../../lib/config/schema.js'
import { VARIABLES } from '../../lib/config/variables.js'
import { readYaml } from '../../lib/config/file.js'
import { withDefaults } from '../../lib/validation/defaults.js'

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
export function effectiveConfig (config: Config, environment: NodeJS.ProcessEnv, path: string | undefined): Effective {
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
