import { Type, type Static } from 'typebox'
import { BANK_ID, BANK_ID_IN_WORDS, PRINCIPAL, PRINCIPAL_IN_WORDS } from '../validation/ids.js'
import {
  BankSchema, BarriersSchema, HomeostasisSchema, ProfileSchema, PROFILE_NAME, PROFILE_NAME_IN_WORDS, ReflectSchema,
  SignalQualitySchema, RetrievalSchema,
} from './bank-schema.js'
import { BoundsSchema } from './bounds.js'
import { choice, flag, integer, number, pattern, Permissions, text, TrustOfWriter, words } from './schema-parts.js'
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

export const SIGNATURE_HEADER = 'X-Signature-256'

const header = (description: string) => text('^[A-Za-z0-9-]+$', 'of letters, digits and -', description)

export const SourceSchema = section({
  type: Type.Literal('webhook', { description: 'The kind of source.' }),
  target_bank: text(`^${BANK_ID}$`, `a bank id ${BANK_ID_IN_WORDS}`, 'The bank that receives the events.'),
  tenant_id: Type.Optional(text('^(?=.*\\S)[^\\p{Cc}\\p{Cs}]{1,256}$', 'of 1 to 256 characters that are not all blank',
    'Tenant that the bank belongs to, as in tokens of auth mode jwt_oidc. Default: no tenant.')),
  principal: Type.Optional(text(`^${PRINCIPAL}$`, `of ${PRINCIPAL_IN_WORDS}`,
    'Principal that retains the events. Default service:<source_id>.')),
  content_path: Type.Optional(text('^(/([^~/]|~[01])*)+$', 'a JSON pointer such as /data/content',
    'JSON pointer (RFC 6901) to the content. Default /content, else /text when /content is absent or null.')),
  auth: Type.Union([
    section({ type: Type.Literal('none', { description: 'Anyone may send events.' }) }, 'No authentication.'),
    section({
      type: Type.Literal('hmac', { description: 'HMAC-SHA256 in hex over the raw body.' }),
      secret: Type.String({ minLength: 1, description: 'The secret shared with the sender.' }),
      header: setting(header('Header that contains the signature.'), SIGNATURE_HEADER),
      timestamp_header: Type.Optional(header('Header that contains the Unix time in seconds, which is signed with ' +
        'the body. The tolerance is five minutes.')),
    }, 'A shared secret.'),
  ], { description: 'How a sender authenticates.' }),
  trust: Type.Optional(TrustOfWriter('Trust of its memories; identity.trust may lower it for its ' +
    'principal. Default trusted with auth hmac, untrusted with auth none.')),
}, 'A webhook that retains the events it receives.')

export type SourceConfig = Static<typeof SourceSchema>

const LABEL = '[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?'
const HOST = `(?:${LABEL}(?:\\.${LABEL})*|\\[[0-9A-Fa-f:.]+\\])`

/** The endpoint of the Model Context Protocol: docs/mcp.md. */
export const McpSchema = sectionOfSettings({
  enabled: setting(flag('Whether the endpoint of the Model Context Protocol is served at /mcp. The auth mode, access ' +
    'control and limits of the other routes apply to it.'), true),
  answer_tokens: setting(integer('Maximum tokens (o200k_base) of an answer. A longer answer is cut and marked as ' +
    'truncated.', 1000, 1_000_000), 8000),
  batch_messages: setting(integer('Maximum number of messages in a JSON-RPC batch, which clients of the revision ' +
    '2025-03-26 may send. The messages are executed one after the other.', 1, 1000), 16),
  public_url: Type.Optional(text('^https?://[^\\s?#"\\\\]+$', 'that is an http or https URL without query',
    'URL of the gateway as clients know it, without /mcp. In auth mode jwt_oidc, the protected-resource metadata ' +
    'contains it. Default: http and the Host header of the request, which is wrong behind a proxy that terminates ' +
    'TLS.')),
  allowed_hosts: Type.Optional(Type.Array(text(`^(?:\\*\\.)?${HOST}$`, 'that is a host name without a port',
    'A host name; a leading `*.` matches any subdomain.'), {
    description: 'Host names under which /mcp accepts requests, in addition to loopback names; other requests get ' +
      '403. Default: any. In dev mode, SERVICES_ALLOWED_HOSTS applies as well.',
  })),
  allowed_origins: setting(Type.Array(text(`^(?:[a-z][a-z0-9+.-]*://\\*|${HOST.replaceAll('A-Z', '')})$`,
    'that is a host name in lower case without a port, or the scheme of browser extensions with ://*',
    'A host name in lower case, without scheme and port.'), {
    description: 'Host names of web pages that may send requests to /mcp (Origin header), in addition to loopback ' +
      'names and that of `public_url`; others get 403. Clients other than browsers send no Origin header.',
  }), [], 'Default: none.'),
}, 'The endpoint of the Model Context Protocol: [mcp.md](mcp.md). Read only at startup.')

const GrantSchema = section({
  bank_id: pattern('Bank id'),
  principal: pattern('Principal'),
  permissions: Permissions,
}, 'One access grant.')

const EscalationSchema = section({
  circuit_breaker: sectionOfSettings({
    failure_threshold: setting(integer('Consecutive failures of the language model after which it is not called for ' +
      'a while: no connection, no answer in time, 5xx, a rejected key, an unusable answer. Counted for the provider ' +
      'and for each tenant.', 1, 1000), 5),
    recovery_timeout_seconds: setting(number('Seconds until the language model is tried again.', 0.001, 3600), 30),
    half_open_max_calls: setting(
      integer('Concurrent trial calls after that time; the first without such a failure closes the circuit.', 1, 100),
      1,
    ),
  }, 'When the language model counts as unavailable.'),
  degraded_mode: setting(choice(['error', 'extractive'], 'What reflect does when the language ' +
    'model is not available: error returns 503; extractive returns sentences from the memories, marked ' +
    'degraded.'), 'error'),
}, 'What happens when the language model fails.')

const OwnerPattern = Type.String({
  // Without a character between the two, where the type ends cannot be told.
  pattern: '^(?!.*\\{type\\}\\{id\\})(?!.*\\{id\\}\\{type\\})' +
    '(?:[^{}]|\\{type\\})*\\{id\\}(?:[^{}]|\\{type\\}|\\{id\\})*$',
  'x-allowed': 'with {id} in it, a character between {type} and {id}, and no placeholder but these two',
})

const price = (what: string) => number(`Price of a million ${what} tokens, in a currency of your choice.`, 0, 1_000_000)

const ModelPriceSchema = section({ input: price('prompt'), output: price('answer') }, 'Prices of one model.')

/** @param names the registered ones; a test compares them with the registries, which this module may not import */
const providerName = (what: string, names: readonly string[], end = '') => Type.String({
  minLength: 1,
  description: `${what}: ${names.map((name) => `\`${name}\``).join(', ')}, or a class of your own as module:Class (a ` +
    `package, or a path relative to this file).${end}`,
})
const providerConfig = Type.Record(Type.String(), Type.Unknown(), {
  description: 'The settings of that provider; each provider with settings has a table below. The map is passed to a ' +
    'class of your own unchanged.',
})

/**
 * The configuration file (SERVICES_CONFIG_PATH). Its type, its validation and its reference all come from this schema.
 */
export const FileSchema = section({
  vector_store: setting(providerName('The store of memories', ['in_memory', 'pglite', 'postgres']), 'in_memory'),
  vector_store_config: setting(providerConfig, {}, ''),
  llm_provider: setting(providerName('The language model', ['mock', 'openai_compatible', 'anthropic']), 'mock'),
  llm_provider_config: setting(providerConfig, {}, ''),
  embedding_provider: setting(providerName(
    'The embedding model', ['auto', 'local', 'transformers', 'openai_compatible', 'mock'],
  ), 'auto'),
  embedding_provider_config: setting(providerConfig, {}, ''),
  reranker: Type.Optional(providerName(
    'The model that scores the best candidates again', ['rerank_endpoint', 'transformers'], ' Default: none.',
  )),
  reranker_config: setting(providerConfig, {}, ''),
  access_control: sectionOfSettings({
    enabled: setting(Type.Boolean(), false),
    default_policy: setting(
      choice(['owner_only', 'open', 'deny'], 'What applies when no grant matches.'), 'owner_only'),
    owner_patterns: setting(Type.Array(OwnerPattern, {
      description: 'Banks that a principal <type>:<id> owns. Of several patterns that fit a bank, the one ' +
        'with the most characters beside its placeholders decides whose it is, with the shortest type that fits. A ' +
        'pattern without {type} holds for ids that contain neither - nor :.',
    }), ['{type}-{id}', '{id}'], 'Default ["{type}-{id}", "{id}"].'),
    bank_grants: setting(flag('Whether the admins of a bank may grant rights on it (`access` ' +
      'in the configuration of the bank).'), true),
  }, 'Access control between callers.'),
  access_grants: setting(Type.Array(GrantSchema, { description: 'Permissions of principals on banks.' }), [], ''),
  banks: setting(Type.Record(Type.String({ pattern: `^(${BANK_ID}\\*?|\\*)$` }), BankSchema, {
    additionalProperties: false,
    'x-keys': `a bank id ${BANK_ID_IN_WORDS}; one trailing * makes it a pattern`,
    description: 'Settings of individual banks.',
  }), {}, ''),
  profiles: setting(Type.Record(Type.String({ pattern: PROFILE_NAME }), ProfileSchema, {
    additionalProperties: false,
    'x-keys': `a name ${PROFILE_NAME_IN_WORDS}`,
    description: 'Named sets of sections that banks choose with `profile`.',
  }), {}, ''),
  identity: sectionOfSettings({
    obo_enabled: setting(flag('Whether delegated identities are accepted (RFC 8693 act claim, ' +
      'X-Service-On-Behalf-Of).'), false),
    trust: setting(Type.Array(section({
      principal: pattern('Principal'),
      trust: TrustOfWriter('Trust of what these principals write.'),
    }, 'The trust of some principals.'), {
      description: 'Trust of the memories that principals write. A literal principal takes precedence over a ' +
      'pattern, and a longer pattern over a shorter one; `*` also matches anonymous callers. With an on-behalf-of ' +
      'identity, the lower trust of the two applies.',
    }), [], 'Default: trusted.'),
  }, 'The identity of callers.'),
  bounds: setting(BoundsSchema, {}, ''),
  mcp: McpSchema,
  console: setting(ConsoleSchema, {}, ''),
  homeostasis: setting(HomeostasisSchema, {}, ''),
  barriers: setting(BarriersSchema, {}, ''),
  signal_quality: setting(SignalQualitySchema, {}, ''),
  retrieval: setting(RetrievalSchema, {}, ''),
  reflect: setting(ReflectSchema, {}, ''),
  escalation: setting(EscalationSchema, {}, ''),
  prices: setting(Type.Record(Type.String({ pattern: '^\\S{1,256}$' }), ModelPriceSchema, {
    additionalProperties: false,
    'x-keys': 'the name of a model, as llm_provider_config.model has it',
    description: 'Prices of models. With a price, `usage.cost` contains the cost of an answer.',
  }), {}, 'Default: none.'),
  sources: setting(Type.Record(Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$' }), SourceSchema, {
    additionalProperties: false,
    'x-keys': 'a source id of letters, digits and ._-, at most 128 characters, the first a letter or digit',
    description: 'External systems that send memories.',
  }), {}, ''),
}, 'Memory Gateway configuration file.')

export * from './bank-schema.js'

export type FileConfig = Static<typeof FileSchema>
export type Grant = Static<typeof GrantSchema>
