import { stringify } from 'yaml'
import { loadAuth } from '../../lib/config/environment.js'
import { ConfigurationError } from '../../lib/config/problems.js'
import { missingVariables } from '../../http/missing-auth-variables.js'
import { checkedConfig } from '../config/check.js'
import { effectiveConfig } from '../config/effective.js'
import { fileJsonSchema } from '../config/json-schema.js'
import { applyConfiguration, type ConfigOptions } from '../configuration.js'
import { EXIT } from '../failures.js'
import { note, write, writeJson, writeLine } from '../output.js'

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
