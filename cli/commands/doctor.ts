import { ConfigurationError } from '../../lib/config/problems.js'
import type { AuthConfig, Config } from '../../lib/config/config.js'
import { loadAuth } from '../../lib/config/environment.js'
import { checkedConfig } from '../config/check.js'
import { applyConfiguration, type ConfigOptions } from '../configuration.js'
import { databaseFindings } from '../doctor/database.js'
import { failed, ok, skipped, warning, type Finding } from '../doctor/finding.js'
import { identityFindings } from '../doctor/identity.js'
import { embeddingFinding, languageModelFinding, rerankerFinding } from '../doctor/models.js'
import { EXIT } from '../failures.js'
import { endOnInterrupt } from '../interrupt.js'
import { writeJson, writeLine } from '../output.js'

interface DoctorOptions extends ConfigOptions {
  data?: string
  json?: boolean
}

/** Checks everything that a server of this configuration needs, one after the other, and reports what to do. */
export async function doctor (options: DoctorOptions): Promise<void> {
  endOnInterrupt()
  const findings: Finding[] = []
  for await (const finding of examine(options)) {
    findings.push(finding)
    if (options.json !== true) for (const line of linesOf(finding)) await writeLine(line)
  }
  const hasFailed = findings.some(({ status }) => status === 'failed')
  if (options.json === true) await writeJson({ ok: !hasFailed, findings })
  process.exitCode = hasFailed ? EXIT.failed : EXIT.done
}

async function * examine (options: DoctorOptions): AsyncGenerator<Finding, void> {
  const check = 'configuration'
  let config: Config
  let isApplied = false
  try {
    applyConfiguration(options)
    isApplied = true
    config = checkedConfig(process.env, { dataFolder: options.data })
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    for (const problem of error.problems) yield failed(check, problem)
    // Without the variables of the .env file, these would not be the settings of the server.
    return yield * remainingFindings(isApplied ? loadAuth(process.env) : undefined)
  }
  yield ok(check, process.env['SERVICES_CONFIG_PATH'] ?? 'from the environment alone')
  for (const sentence of config.warnings) yield warning(check, sentence)
  yield * identityFindings(config.auth)
  const { finding, space } = await embeddingFinding(config)
  yield finding
  yield await languageModelFinding(config)
  const reranker = await rerankerFinding(config)
  if (reranker !== undefined) yield reranker
  yield * databaseFindings(config, space)
}

/**
 * The checks that an invalid configuration leaves: authentication is set by variables alone, everything else depends on
 * the configuration file.
 */
async function * remainingFindings (auth: AuthConfig | undefined): AsyncGenerator<Finding, void> {
  const why = 'not checked, because the configuration has problems'
  if (auth === undefined) yield skipped('authentication', why)
  else yield * identityFindings(auth)
  for (const check of ['embedding provider', 'language model', 'reranker', 'database']) yield skipped(check, why)
}

function linesOf ({ check, status, message, advice }: Finding): string[] {
  return [`${status.padEnd(7)}  ${check}: ${message}`, ...(advice === undefined ? [] : [`         ${advice}`])]
}
