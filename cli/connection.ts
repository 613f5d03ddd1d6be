import { statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { readUtf8, reasonOf } from '../lib/config/environment.js'
import { readVariableLines } from '../lib/config/env-file.js'
import { isPrincipal } from '../lib/access/context.js'
import { PRINCIPAL_IN_WORDS } from '../lib/base/ids.js'
import { codeOf, CommandError, usageError } from './failures.js'
import type { ServerConnection } from '../mcp/caller.js'

const NAMES = [
  'MEMORY_GATEWAY_URL', 'MEMORY_GATEWAY_API_KEY', 'MEMORY_GATEWAY_TOKEN', 'MEMORY_GATEWAY_PRINCIPAL',
] as const
const DEFAULT_URL = 'http://127.0.0.1:8080'
const PROFILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
/** The permission bits of group and others. */
const GROUP_AND_OTHERS = 0o077

type Name = (typeof NAMES)[number]
type Values = Partial<Record<Name, string>>

/**
 * Variables of the environment come first, then the profile's file. The credentials of a profile belong to its server:
 * they are not sent to another one given by MEMORY_GATEWAY_URL.
 * @param profile default: MEMORY_GATEWAY_PROFILE, else `default`, whose file may be missing
 * @returns the address without a slash at its end, and the credentials of the caller
 * @throws CommandError that shows no value of a credential
 */
export function readConnection (environment: NodeJS.ProcessEnv, profile?: string): ServerConnection {
  const given = pick(environment)
  const chosen = profile ?? environment['MEMORY_GATEWAY_PROFILE']
  const stored = readProfile(environment, chosen)
  const [url, storedUrl] = [given, stored].map(({ MEMORY_GATEWAY_URL: text = '' }) => (
    URL.canParse(text) ? withoutSlashes(new URL(text)) : text
  ))
  const isOther = given.MEMORY_GATEWAY_URL !== undefined && url !== storedUrl
  const values = isOther ? given : { ...withoutOverridden(stored, given), ...given }
  const { MEMORY_GATEWAY_API_KEY: apiKey, MEMORY_GATEWAY_TOKEN: token, MEMORY_GATEWAY_PRINCIPAL: principal } = values
  if (apiKey !== undefined && token !== undefined) {
    throw usageError('MEMORY_GATEWAY_API_KEY and MEMORY_GATEWAY_TOKEN are both set; set only the one that the ' +
      'server requires')
  }
  return {
    url: checkUrl(values.MEMORY_GATEWAY_URL ?? DEFAULT_URL),
    apiKey: checkHeader('MEMORY_GATEWAY_API_KEY', apiKey),
    token: checkHeader('MEMORY_GATEWAY_TOKEN', token),
    principal: checkPrincipal(principal),
  }
}

/**
 * The principal of MEMORY_GATEWAY_PRINCIPAL, for a command that does its work without a server.
 * @throws CommandError when it is not a principal
 */
export function readPrincipal (environment: NodeJS.ProcessEnv): string | undefined {
  return checkPrincipal(pick(environment).MEMORY_GATEWAY_PRINCIPAL)
}

/** A credential of the environment replaces all credentials of the profile, even of another kind. */
function withoutOverridden (stored: Values, given: Values): Values {
  const { MEMORY_GATEWAY_API_KEY: _key, MEMORY_GATEWAY_TOKEN: _token, ...rest } = stored
  if (given.MEMORY_GATEWAY_API_KEY !== undefined || given.MEMORY_GATEWAY_TOKEN !== undefined) return rest
  return stored
}

function pick (from: Readonly<Record<string, string | undefined>>): Values {
  const found: Values = {}
  for (const name of NAMES) {
    const value = from[name]?.trim()
    if (value !== undefined && value !== '') found[name] = value
  }
  return found
}

/** The folder of the profiles: that of the XDG base directory specification. */
function profileFolder (environment: NodeJS.ProcessEnv): string {
  const base = environment['XDG_CONFIG_HOME']
  return join(base === undefined || base === '' ? join(homedir(), '.config') : base, 'memory-gateway')
}

function readProfile (environment: NodeJS.ProcessEnv, chosen: string | undefined): Values {
  const name = chosen ?? 'default'
  if (!PROFILE_NAME.test(name)) {
    throw usageError('the name of a profile must have 1 to 64 letters, digits or ._- and begin with a letter or digit')
  }
  const path = join(profileFolder(environment), `${name}.env`)
  let text: string
  try {
    text = readUtf8(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT' && chosen === undefined) return {}
    throw new CommandError(`the profile ${path} cannot be read (${reasonOf(error)})`)
  }
  // Windows keeps its access rights elsewhere.
  if (process.platform !== 'win32' && (statSync(path).mode & GROUP_AND_OTHERS) !== 0) {
    throw new CommandError(`the profile ${path} contains credentials and can be read by others; run chmod 600 on it`)
  }
  const { assignments, problems } = readVariableLines(text, `the profile ${path}`)
  for (const { name, line } of assignments) {
    if (!NAMES.some((known) => known === name)) {
      problems.push(`the profile ${path}: line ${line} sets an unknown variable; allowed are ${NAMES.join(', ')}`)
    }
  }
  if (problems.length > 0) throw new CommandError(problems.join('\n'))
  return pick(Object.fromEntries(assignments.map(({ name, value }) => [name, value])))
}

function checkUrl (text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isRight = url !== undefined && ['http:', 'https:'].includes(url.protocol) && url.search === '' &&
    url.hash === ''
  if (!isRight || url.username !== '' || url.password !== '') {
    throw usageError('MEMORY_GATEWAY_URL must be an http or https URL without credentials, such as ' +
      'http://127.0.0.1:8080 (the value is not shown)')
  }
  return withoutSlashes(url)
}

function withoutSlashes ({ href }: URL): string {
  return href.replace(/\/+$/, '')
}

/** The rule of the gateway for X-Service-Principal, which is sent as UTF-8. */
function checkPrincipal (value: string | undefined): string | undefined {
  if (value === undefined || isPrincipal(value)) return value
  throw usageError(`MEMORY_GATEWAY_PRINCIPAL must be ${PRINCIPAL_IN_WORDS} (the value is not shown)`)
}

/** Checked here, because the error of fetch would contain the value. An API key may be a phrase with spaces. */
function checkHeader (name: Name, value: string | undefined): string | undefined {
  const isApiKey = name === 'MEMORY_GATEWAY_API_KEY'
  if (value !== undefined && !(isApiKey ? /^[\x20-\x7e]+$/ : /^[\x21-\x7e]+$/).test(value)) {
    throw usageError(`${name} must consist of visible ASCII characters` +
      `${isApiKey ? ' and spaces' : ' without spaces'} (the value is not shown)`)
  }
  return value
}
