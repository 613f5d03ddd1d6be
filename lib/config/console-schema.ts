import { Type } from 'typebox'
import { choice, flag, text, words } from './schema-parts.js'
import { section, sectionOfSettings, setting } from '../validation/defaults.js'

const ConsoleOidcSchema = section({
  client_id: words(256, 'Client id of the console, a public client, at the identity provider. Its redirect URI is ' +
    '<origin>/console/callback.'),
  scope: setting(words(1024, 'Scopes to request, separated by spaces.'), 'openid'),
  token: setting(choice(['access_token', 'id_token'], 'Which of the provider\'s tokens the console sends to the ' +
    'gateway. It must be a JWT with the audience SERVICE_OIDC_AUDIENCE.'), 'access_token'),
  parameters: setting(Type.Record(
    Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$' }), words(1024, 'Value of the parameter.'), {
      additionalProperties: false,
      'x-keys': 'a name of letters, digits and ._-, at most 64 characters',
      description: 'Additional parameters of the authorization request, for instance `audience` or `resource`.',
    },
  ), {}, 'Default: none.'),
  origins: setting(Type.Array(text('^https?://[A-Za-z0-9.:\\[\\]-]+$', 'an origin such as https://login.example.com',
    'An origin.'), {
    maxItems: 8,
    description: 'Origins to which the browser may send requests, in addition to that of SERVICE_OIDC_ISSUER. ' +
      'Required when the token endpoint of the provider has another origin.',
  }), [], 'Default: none.'),
}, 'Sign-in at the identity provider (authorization code with PKCE), in jwt_oidc mode. Absent: the console prompts ' +
  'for a token.')

/** The pages for people at /console. */
export const ConsoleSchema = sectionOfSettings({
  enabled: Type.Optional(flag('Whether the console is served at /console. Default: whether SERVICES_HOST is a ' +
    'loopback address; false in a gateway that is part of another app.')),
  oidc: Type.Optional(ConsoleOidcSchema),
}, 'The console: web pages that show memories and use the public API with the permissions of the user.')
