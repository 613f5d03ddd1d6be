import { Type, type Static } from 'typebox'
import { BANK_ID, BANK_ID_IN_WORDS } from '../validation/ids.js'
import {
  BankSchema, BarriersSchema, HomeostasisSchema, ProfileSchema, PROFILE_NAME, PROFILE_NAME_IN_WORDS, ReflectSchema,
  SignalQualitySchema,
} from './bank-schema.js'
import { BoundsSchema } from './bounds.js'
import { McpSchema } from './mcp-schema.js'
import { ConsoleSchema } from './console-schema.js'
import { RetrievalSchema } from './retrieval-schema.js'
import { choice, flag, integer, number, pattern, Permissions, TrustOfWriter } from './schema-parts.js'
import { SourceSchema } from './source-schema.js'
import { section, sectionOfSettings, setting } from '../validation/defaults.js'

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
export type { SourceConfig } from './source-schema.js'

export type FileConfig = Static<typeof FileSchema>
export type Grant = Static<typeof GrantSchema>
