import { Type, type Static } from 'typebox'
import { quote } from './problems.js'
import { choice, flag, section, sectionOfSettings, setting, text, words } from './schema-parts.js'

/** The parameters that the console sets in the authorization request, which an operator must not. */
const OWN_PARAMETERS = [
  'client_id', 'code_challenge', 'code_challenge_method', 'nonce', 'redirect_uri', 'response_mode', 'response_type',
  'scope', 'state',
]

const ConsoleOidcSchema = section({
  client_id: words(256, 'The id of the public client that the identity provider knows the console by. Its redirect ' +
    'URI is <origin>/console/callback.'),
  scope: setting(words(1024, 'What is asked for, separated by spaces.'), 'openid'),
  token: setting(choice(['access_token', 'id_token'], 'Which of the provider\'s tokens the console sends to the ' +
    'gateway. It must be a JWT with the audience SERVICE_OIDC_AUDIENCE.'), 'access_token'),
  parameters: setting(Type.Record(Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$' }), words(1024), {
    additionalProperties: false,
    'x-keys': 'a name of letters, digits and ._-',
    description: 'More parameters of the request to the provider, `audience` or `resource` for instance.',
  }), {}, 'Default: none.'),
  origins: setting(Type.Array(text('^https?://[A-Za-z0-9.:\\[\\]-]+$', 'an origin such as https://login.example.com',
    'An origin.'), {
    maxItems: 8,
    description: 'Origins, beside that of SERVICE_OIDC_ISSUER, that the browser may ask: needed where the provider\'s ' +
      'token endpoint has another one.',
  }), [], 'Default: none.'),
}, 'Sign-in at the identity provider (authorization code with PKCE), in jwt_oidc mode. Absent: the console asks for a ' +
  'token.')

/** The pages for people at /console. */
export const ConsoleSchema = sectionOfSettings({
  enabled: Type.Optional(flag('Whether the console is served at /console. Default: whether SERVICES_HOST is a ' +
    'loopback address.')),
  oidc: Type.Optional(ConsoleOidcSchema),
}, 'The console: pages that show what is remembered, and use the public API with the rights of whoever looks.')

/** The checks that the schema cannot express. */
export function * consoleProblems (
  console: Static<typeof ConsoleSchema> | undefined, mode: string | undefined, issuer: string | undefined,
): Iterable<string> {
  const { oidc } = console ?? {}
  if (oidc === undefined) return
  for (const name of OWN_PARAMETERS) {
    if (Object.hasOwn(oidc.parameters ?? {}, name)) {
      yield `console.oidc.parameters.${name}: the console says it itself; take it out`
    }
  }
  if (mode === 'jwt_oidc' && issuer !== undefined && !isHttpUrl(issuer)) {
    yield `SERVICE_OIDC_ISSUER: found ${quote(issuer)}, allowed with console.oidc is a URL, at which the provider ` +
      'describes itself'
  }
}

function isHttpUrl (value: string): boolean {
  return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
}
