import { missingVariables } from '../../http/missing-auth-variables.js'
import type { AuthConfig, Config } from '../../lib/config/config.js'
import { loadAuth } from '../../lib/config/environment.js'
import { ConfigurationError } from '../../lib/config/problems.js'
import { fetchJwks } from '../../plugins/auth/jwks-fetch.js'
import { SigningKeys } from '../../plugins/auth/signing-keys.js'
import { checkedConfig } from '../config/check.js'
import { applyConfiguration, type ConfigOptions } from '../configuration.js'
import { clockFinding } from '../doctor/clock.js'
import { databaseFindings } from '../doctor/database.js'
import { failed, failedWith, type Finding, ok, skipped, warning } from '../doctor/finding.js'
import { embeddingFinding, languageModelFinding, rerankerFinding } from '../doctor/models.js'
import { EXIT } from '../failures.js'
import { endOnInterrupt } from '../interrupt.js'
import { writeJson, writeLine } from '../output.js'

const TIMEOUT_MS = 5000
/** The header Date has a resolution of one second. */
const SECOND = 1000

/** Checks the settings of the auth mode and, with an identity provider, whether its keys can be fetched. */
async function * identityFindings (auth: AuthConfig): AsyncGenerator<Finding, void> {
  const check = 'authentication'
  const missing = missingVariables(auth)
  if (missing.length > 0) {
    return yield failed(
      check, `SERVICE_AUTH_MODE ${auth.mode} answers every request with 500`, `set ${missing.join(', ')}`,
    )
  }
  const { mode, oidcJwksUrl: url } = auth
  if (mode !== 'jwt_oidc' || url === undefined) return yield ok(check, `SERVICE_AUTH_MODE ${mode}`)
  try {
    const keys = await SigningKeys.of(await fetchJwks(url, TIMEOUT_MS), url)
    if (keys.size === 0) {
      yield failed(
        check, 'the key set has no RSA key of at least 2048 bits for RS256 with a kid',
        'check SERVICE_OIDC_JWKS_URL and the keys of the identity provider',
      )
    } else yield ok(check, `the identity provider has ${keys.size} ${keys.size === 1 ? 'key' : 'keys'}`)
    yield * clockFindings(url)
  } catch (error) {
    yield failedWith(check, error, 'check SERVICE_OIDC_JWKS_URL and the connection to the identity provider')
  }
}

async function * clockFindings (url: string): AsyncGenerator<Finding, void> {
  const sent = Date.now()
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) })
  const received = Date.now()
  await response.body?.cancel()
  const theirs = Date.parse(response.headers.get('date') ?? '')
  if (!Number.isNaN(theirs)) yield clockFinding('clock of the identity provider', theirs, { sent, received }, SECOND)
}

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
