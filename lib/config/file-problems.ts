import { canMatchPrincipal } from '../identity/context.js'
import { PRINCIPAL_PATTERN_IN_WORDS } from '../validation/ids.js'
import type { AuthMode } from './config.js'
import { didYouMean } from '../errors/wording.js'
import { formatPath } from './paths.js'
import { quote } from './problems.js'
import type { FileConfig } from './schema.js'
import { SIGNATURE_HEADER } from './source-schema.js'

/** The parameters that the console sets in the authorization request, which an operator must not. */
const CONSOLE_PARAMETERS = [
  'client_id', 'code_challenge', 'code_challenge_method', 'nonce', 'redirect_uri', 'response_mode', 'response_type',
  'scope', 'state',
]

/** The variables of the environment with which the file must agree. */
interface RelatedVariables {
  mode: AuthMode | undefined
  /** SERVICE_OIDC_ISSUER. */
  issuer: string | undefined
}

/** The problems of the file that its schema cannot express. */
export function fileProblems (file: FileConfig, variables: RelatedVariables): string[] {
  return [
    ...missingProfiles(file), ...grantProblems(file), ...sourceProblems(file), ...consoleProblems(file, variables),
  ]
}

/** A problem for each bank of the file that chooses a profile which does not exist. */
function missingProfiles ({ banks = {}, profiles = {} }: FileConfig): string[] {
  const names = Object.keys(profiles)
  return Object.entries(banks).flatMap(([bankId, { profile }]) => {
    if (profile === undefined || names.includes(profile)) return []
    const place = formatPath(['banks', bankId, 'profile'])
    return [`${place}: found ${quote(profile)}, allowed is a name under profiles${didYouMean(profile, names)}`]
  })
}

/** A problem for each principal that no caller can have. */
function grantProblems ({ access_grants: grants = [], banks = {}, identity }: FileConfig): string[] {
  const lists = [
    ['access_grants', grants],
    ['identity.trust', identity?.trust ?? []],
    ...Object.entries(banks).map(([id, { access = [] }]) => [formatPath(['banks', id, 'access']), access] as const),
  ] as const
  return lists.flatMap(([list, entries]) => entries.flatMap(({ principal }, index) => (
    canMatchPrincipal(principal) ? [] : [`${list}[${index}].principal: allowed are ${PRINCIPAL_PATTERN_IN_WORDS}`]
  )))
}

function sourceProblems ({ sources = {} }: FileConfig): string[] {
  return Object.entries(sources).flatMap(([id, { auth }]) => {
    if (auth.type !== 'hmac' || auth.timestamp_header === undefined) return []
    const { header = SIGNATURE_HEADER, timestamp_header: timestamp } = auth
    return timestamp.toLowerCase() === header.toLowerCase()
      ? [`${formatPath(['sources', id, 'auth', 'timestamp_header'])}: is also the header of the signature, so ` +
        'no event could be accepted']
      : []
  })
}

function * consoleProblems ({ console }: FileConfig, { mode, issuer }: RelatedVariables): Iterable<string> {
  const { oidc } = console ?? {}
  if (oidc === undefined) return
  for (const name of CONSOLE_PARAMETERS) {
    if (Object.hasOwn(oidc.parameters ?? {}, name)) {
      yield `console.oidc.parameters.${name}: the console sets this parameter itself; remove it`
    }
  }
  if (mode === 'jwt_oidc' && issuer !== undefined && !isHttpUrl(issuer)) {
    yield `SERVICE_OIDC_ISSUER: found ${quote(issuer)}, allowed with console.oidc is the ` +
      'http(s) URL of the identity provider'
  }
}

function isHttpUrl (value: string): boolean {
  return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
}
