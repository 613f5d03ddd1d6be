import { Type, type Static, type TNumber } from 'typebox'
import { TRUST_LEVELS } from '../access/trust.js'
import {
  section, sectionOfSettings, setting, withoutDefaults, withDefaults, type TDefaulted, type Resolved,
} from '../base/defaults.js'
import { BANK_ID, BANK_ID_IN_WORDS, PRINCIPAL, PRINCIPAL_IN_WORDS } from '../base/ids.js'
import { withoutUndefined } from '../base/members.js'
import { SCORER_TABLE } from './scorer-table.js'

// Annotations for messages and for the reference (docs/configuration.md), which validation ignores: `x-allowed`
// describes a pattern in words, `x-keys` the keys of a map.

const integer = (description: string, minimum: number, maximum?: number) => (
  Type.Integer(range(description, minimum, maximum))
)
const number = (description: string, minimum: number, maximum?: number) => (
  Type.Number(range(description, minimum, maximum))
)
const flag = (description: string) => Type.Boolean({ description })
const choice = <const Values extends string[]>(values: readonly [...Values], description: string) => (
  Type.Enum(values as [...Values], { description })
)

function range (description: string, minimum: number, maximum: number | undefined) {
  return maximum === undefined ? { minimum, description } : { minimum, maximum, description }
}

/** @param allowed the pattern in words */
const text = (pattern: string, allowed: string, description: string) => (
  Type.String({ pattern, 'x-allowed': allowed, description })
)

/** @param longest in characters */
const words = (longest: number, description?: string) => Type.String(withoutUndefined({
  minLength: 1,
  maxLength: longest,
  'x-allowed': `of 1 to ${longest} characters`,
  description,
}))

/** A bank id or a principal, or a prefix before one trailing `*`. */
const pattern = (what: string) => Type.String({
  pattern: '^[^\\s*]*\\*?$',
  minLength: 1,
  'x-allowed': 'without spaces, with * only as the last character',
  description: `${what}; one trailing * matches any suffix.`,
})

const Permissions = Type.Array(Type.Enum(['read', 'write', 'forget', 'admin', '*']), {
  minItems: 1,
  description: '`*` means all four; `admin` implies none of the others, but its holder may grant permissions on the ' +
    'bank unless access_control.bank_grants is false.',
})

const TrustOfWriter = (description: string) => choice(['untrusted', 'trusted'], description)

/** A weight for each scorer. */
function scorerWeights (): Record<keyof typeof SCORER_TABLE, TDefaulted<TNumber>> {
  const weights = Object.entries(SCORER_TABLE).map(([name, { weight, about }]) => [
    name, setting(number(about, -100, 100), weight),
  ])
  return Object.fromEntries(weights) as Record<keyof typeof SCORER_TABLE, TDefaulted<TNumber>>
}

const RetrievalSchema = section({
  weights: sectionOfSettings({
    lexical: setting(number('Weight of the lexical (BM25) score.', 0, 100), 1),
    semantic: Type.Optional(number('Weight of the semantic (embedding) score. Default: set by the embedding ' +
      'provider; 0 for mock.', 0, 100)),
  }, 'Weights of the strategies in the fused score.'),
  fusion: setting(choice(['linear', 'rrf'], 'How the scores of the strategies are combined: linear ' +
    'adds them, each relative to the best one found; rrf uses only ranks.'), 'linear'),
  scorers: setting(Type.Object(scorerWeights(), {
    additionalProperties: false,
    description: 'Weights of the scorers, which rank candidates in addition to the strategies, relative to a lexical ' +
      'weight of 1; 0 disables a scorer. Where a scorer is for a short query, it has its full weight up to 8 search ' +
      'terms, less with each further one, and none from 13.',
  }), {}, ''),
  diversity: setting(number('Penalty for further hits of the same document when the query asks for several things, ' +
    'such as `which cities` or `how many`. Each earlier hit of the document subtracts it from the score by which a ' +
    'candidate is ordered, relative to a lexical weight of 1. 0: no penalty.',
  0, 100), 0.1),
  semantic_timeout_ms: setting(integer('Maximum milliseconds for embedding a query. After that, recall answers ' +
    'without the semantic strategy, marked degraded.', 1, 600_000), 3000),
  rerank: sectionOfSettings({
    candidates: setting(integer('Number of best candidates that the reranker scores.', 1, 100), 100),
    timeout_ms: setting(integer('Maximum milliseconds for reranking. After that, recall answers in the order ' +
      'without it, marked degraded.', 1, 600_000), 1500),
    weight: setting(number('Share of the reranker in the new score.', 0, 1), 0.8),
  }, 'Use of the reranker that `reranker` names.'),
  rewrite: sectionOfSettings({
    enabled: setting(flag('Whether a recall may request it (`rewrite: true`).'), false),
    max_queries: setting(integer('Maximum number of wordings to search in addition to the query.', 1, 8), 3),
    timeout_ms: setting(integer('Maximum milliseconds for the language model. After that, recall answers without ' +
      'other wordings, marked degraded.', 1, 600_000), 3000),
  }, 'Other wordings of a query, generated by the language model.'),
  model_rerank: sectionOfSettings({
    enabled: setting(flag('Whether a recall may request it (`model_rerank: true`).'), false),
    candidates: setting(integer('Number of best candidates that the language model orders.', 2, 50), 20),
    timeout_ms: setting(integer('Maximum milliseconds for the language model. After that, recall answers in the ' +
      'order without it, marked degraded.', 1, 600_000), 5000),
    weight: setting(number('Share of the language model in the new score.', 0, 1), 0.8),
  }, 'Reranking by the language model instead of `reranker`.'),
  // With long answers and short remarks in one bank, a fixed length above which the score falls works better than a
  // comparison with the average length (docs/recall-quality.md).
  bm25: sectionOfSettings({
    k1: setting(number('Saturation of term frequency.', 0, 10), 0.9),
    pivot: setting(number('Length in words, without stop words, up to which the length of a text has no ' +
      'effect; above it, the score falls in proportion. In notes and articles, which ask nothing, it is three times ' +
      'as long when no embedding is used.', 1, 100_000), 25),
    b: Type.Optional(number('Replaces the pivot: the length of a text is compared with the average of the bank, ' +
      'from 0 (no effect) to 1 (in proportion). Unset: the pivot is used.', 0, 1)),
  }, 'BM25 parameters.'),
  context: setting(flag('Whether the words of its neighbours in the document also count for a memory. Memories ' +
    'without a document have neighbours too: those of the same day before and after them.'), true),
  chunk_max_characters: setting(
    integer('Length in characters above which content is split into passages for search.', 200, 50_000), 2000),
}, 'How recall ranks memories.')

type ResolvedRetrieval = Resolved<typeof RetrievalSchema>

/** The sections that apply to a bank, in the words of the configuration, with every default filled in. */
export interface BankSettings {
  homeostasis: Resolved<typeof HomeostasisSchema>
  barriers: Resolved<typeof BarriersSchema>
  signal_quality: Resolved<typeof SignalQualitySchema>
  retrieval: Omit<ResolvedRetrieval, 'weights'> & { weights: Required<ResolvedRetrieval['weights']> }
  reflect: Resolved<typeof ReflectSchema>
  extraction: Resolved<typeof ExtractionSchema>
  mission?: string
}

/** The defaults of a bank's sections; the embedding provider decides the default weight of the semantic strategy. */
export function defaultSections (semanticWeight: number): BankSettings {
  const retrieval = withDefaults(RetrievalSchema, {})
  return {
    homeostasis: withDefaults(HomeostasisSchema, {}),
    barriers: withDefaults(BarriersSchema, {}),
    signal_quality: withDefaults(SignalQualitySchema, {}),
    retrieval: { ...retrieval, weights: { ...retrieval.weights, semantic: semanticWeight } },
    reflect: withDefaults(ReflectSchema, {}),
    extraction: withDefaults(ExtractionSchema, {}),
  }
}

const PROFILE_NAME = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'
const PROFILE_NAME_IN_WORDS = 'of letters, digits and ._-, at most 64 characters, the first a letter or digit'

const perMinute = (what: string, note = '') => (
  Type.Optional(integer(`${what} per minute, for each principal and bank.${note} Unset: no limit.`, 1, 1_000_000))
)
const perDay = (what: string, note = '') => (
  Type.Optional(integer(`${what} per UTC day, for each bank.${note} Unset: no limit.`, 1))
)

const HomeostasisSchema = section({
  recall_max_tokens: Type.Optional(integer('Maximum tokens of the hits of a recall: default and upper limit of ' +
    '`max_tokens` in a request.', 1)),
  reflect_max_tokens: Type.Optional(integer('Maximum tokens of the answer of a reflect: default and upper limit ' +
    'of `max_tokens` in a request.', 1)),
  retain_max_content_bytes: Type.Optional(integer('Maximum bytes of `content`, as UTF-8.', 1)),
  rate_limits: Type.Optional(section({
    retain_per_minute: perMinute('Retained items'),
    recall_per_minute: perMinute('Recall operations'),
    reflect_per_minute: perMinute('Reflect operations'),
    forget_per_minute: perMinute('Forget operations'),
    import_per_minute: perMinute('Imported memories'),
    global_per_minute: perMinute('Operations of all these kinds and changes of the bank\'s configuration together,',
      ' An import counts as one, however many memories it has.'),
  }, 'Rate limits, each for a minute of the clock (UTC).')),
  quotas: Type.Optional(section({
    retain_per_day: perDay('Retained items'),
    import_per_day: perDay('Imported memories'),
    reflect_per_day: perDay('Reflect operations'),
    model_calls_per_day: perDay('Calls to the language model'),
    model_tokens_per_day: perDay('Tokens of the language model, prompts and answers together,', ' Before a call, ' +
      'the tokens of its prompt and of its longest permitted answer are reserved.'),
  }, 'Daily quotas.')),
}, 'Limits on the use of a bank.')

export const BarriersSchema = section({
  validation: sectionOfSettings({
    max_content_length: setting(integer('Maximum characters of `content`, after trimming.', 1, 1_000_000), 50_000),
  }, 'Validation of `content`.'),
  metadata: sectionOfSettings({
    blocked_keys: setting(Type.Array(words(256), {
      maxItems: 1000,
      description: 'Metadata keys that are removed before a memory is stored. Case is ignored, and so is the Unicode ' +
        'normalization.',
    }), [], 'Default: none.'),
    max_metadata_size_bytes: setting(integer('Maximum bytes of the metadata of a memory, as JSON.', 2, 65_536), 4096),
  }, 'Limits on metadata.'),
}, 'Checks of what is stored in a bank.')

/** Why a memory may take the place of an older one (lib/operations/contradictions.ts). */
const PROPOSAL_KINDS = ['value', 'number', 'negation', 'place', 'near_duplicate'] as const

const SignalQualitySchema = section({
  dedup: sectionOfSettings({
    action: setting(choice(['off', 'skip', 'warn', 'update'], 'off: only exact repeats are ' +
      'detected. skip: a near-duplicate is not stored. warn: it is stored, and the answer names the memory that it ' +
      'repeats. update: it replaces that memory and keeps its id. A memory of lower trust neither replaces one of ' +
      'higher trust nor prevents it from being stored: both are stored.'), 'off'),
    threshold: setting(number('Minimum cosine of the word counts, without stop words, at which a memory counts as ' +
      'a near-duplicate. Memories that differ in numbers, negations or document, or in the order of the same words, ' +
      'are never near-duplicates.', 0, 1), 0.9),
  }, 'What retain does with a memory that nearly repeats one in the bank.'),
  proposals: sectionOfSettings({
    mode: setting(choice(['off', 'propose'], 'propose: retain compares a memory with the similar ones of the bank, ' +
      'and notes which it may supersede. It costs a search for each memory.'), 'off'),
    accept: setting(Type.Array(choice([...PROPOSAL_KINDS], 'A kind of proposal.'), {
      uniqueItems: true,
      description: 'Kinds that are accepted at once: the older memory is superseded in the same write, which can be ' +
        'undone. The others wait for somebody\'s decision.',
    }), [], 'Default none.'),
  }, 'What retain does with a memory that may take the place of an older one.'),
}, 'Deduplication and proposals.')

const ReflectSchema = section({
  timeout_ms: setting(integer('Maximum milliseconds of a reflect: default and upper limit of `timeout_ms` in a ' +
    'request. A call to the language model may take at most three quarters of this time, so that a call that hangs ' +
    'is detected.', 100, 600_000), 60_000),
  max_evidence: setting(integer('Maximum number of memories in the evidence for an answer.', 1, 100), 20),
  max_evidence_tokens: setting(integer('Maximum tokens of the evidence in total.', 1, 1_000_000), 6000),
  min_score: setting(
    number('Minimum score of evidence. When no memory reaches it, nor a cosine of 0.5 with the model of ' +
      '`embedding_provider: local`, reflect abstains and calls no model.', 0, 1), 0.2),
  min_trust: setting(choice([...TRUST_LEVELS], 'Minimum trust of evidence. A request may ' +
    'raise it (`min_trust`), not lower it.'), 'suspect', 'Default suspect: any.'),
}, 'How reflect answers questions.')

const ExtractionSchema = section({
  mode: setting(choice(['off', 'facts'], 'facts: the language model derives facts from what is stored from then on; ' +
    'they are memories of their own, beside it. Needs a language model that answers in JSON.'), 'off'),
  instructions: Type.Optional(words(2000, 'What to look for, in the words of the owner of the bank.')),
  max_facts_per_job: setting(integer('Maximum number of facts from one call of the language model; further ones are ' +
    'dropped. 0: none are derived, and a bank cannot ask for any.', 0, 100), 20),
  max_output_tokens: setting(integer('Maximum tokens of an answer of the language model.', 100, 100_000), 4000),
  timeout_ms: setting(integer('Maximum milliseconds of a call of the language model; one attempt may take three ' +
    'quarters of the longest `reflect.timeout_ms` of the file.', 100, 600_000), 60_000),
}, 'Facts that the language model derives from memories: [extraction.md](extraction.md).')

/**
 * The sections that an operator may set under `banks.<id>` and `profiles.<name>`, and the admins of a bank through the
 * API. Each layer sets only what it names, so these schemas have no defaults, which Fastify would also fill into
 * requests and answers.
 */
const bankSections = {
  homeostasis: Type.Optional(withoutDefaults(HomeostasisSchema)),
  barriers: Type.Optional(withoutDefaults(BarriersSchema)),
  signal_quality: Type.Optional(withoutDefaults(SignalQualitySchema)),
  retrieval: Type.Optional(withoutDefaults(RetrievalSchema)),
  reflect: Type.Optional(withoutDefaults(ReflectSchema)),
  extraction: Type.Optional(withoutDefaults(ExtractionSchema)),
  mission: Type.Optional(words(4000, 'The purpose of the bank and the tone of answers from it. Reflect passes this ' +
    'text to the language model; it never counts as evidence.')),
}

const bankFields = {
  description: Type.Optional(words(1000, 'Description of the bank, for people.')),
  profile: Type.Optional(text(PROFILE_NAME, PROFILE_NAME_IN_WORDS, 'A profile in the configuration file whose ' +
    'sections apply to the bank. The bank\'s own settings take precedence.')),
  ...bankSections,
}

const BankGrantSchema = section(
  { principal: pattern('Principal'), permissions: Permissions }, 'A grant on this bank.', 'BankGrant',
)

const bankAccess = (options: { maxItems?: number } = {}) => (
  Type.Optional(Type.Array(BankGrantSchema, {
    description: 'Grants on this bank, in addition to access_grants.', ...options,
  }))
)

const ProfileSchema = section(bankSections, 'A named set of sections for the banks that choose it.')

const BankSchema = section({ access: bankAccess(), ...bankFields }, 'Settings of one bank, or of the banks ' +
  'that match a pattern with one trailing *. A literal name takes precedence over a pattern, and a longer pattern ' +
  'over a shorter one.')

/** What the admins of a bank may set for it through the API. */
export const BankConfigurationSchema = section({
  access: bankAccess({ maxItems: 200 }),
  ...bankFields,
}, 'The configuration of a bank as its admins set it.', 'BankConfig')

export type Profile = Static<typeof ProfileSchema>
export type BankEntry = Static<typeof BankSchema>
export type BankConfiguration = Static<typeof BankConfigurationSchema>

const MIB = 1_048_576
const GIB = 1024 * MIB

/** Who knows why may raise the bytes of a body and of an answer up to this. */
export const MAX_BYTES = 10 * MIB

/** Bounds of one request, of one caller, and of all requests together. docs/bounds.md has the table. */
const BoundsSchema = section({
  json_depth: setting(integer('Maximum nesting depth of objects and arrays in a JSON body.', 1, 1000), 64),
  json_values: setting(integer('Maximum number of objects, arrays, strings, numbers and other values in a JSON ' +
    'body, in total.', 1, 10_000_000), 100_000),
  array_elements: setting(integer('Maximum number of elements of an array in a JSON body, unless the API has a lower ' +
    'limit.', 1, 1_000_000), 10_000),
  batch_bytes: setting(integer('Maximum bytes of the body of a retain/batch or of messages.', 1024, MAX_BYTES), 4 * MIB,
    `Default ${4 * MIB} (4 MiB).`),
  import_bytes: setting(integer('Maximum bytes of the body of an import.', 1024, GIB), 10 * MIB,
    `Default ${10 * MIB} (10 MiB).`),
  import_lines: setting(integer('Maximum number of lines of an import, including its header.', 2, 10_000_000), 50_000),
  answer_bytes: setting(integer('Maximum bytes of one answer; exports are not counted.', 1024, MAX_BYTES), 4 * MIB,
    `Default ${4 * MIB} (4 MiB).`),
  request_seconds: setting(integer('Maximum seconds from the first byte of a request to its last.', 1, 3600), 60),
  stalled_seconds: setting(
    integer('Seconds after which a client that reads nothing of its answer is disconnected.', 1, 3600), 60),
  streams_per_caller: setting(
    integer('Maximum number of exports and event streams that one caller may have open at a time.', 1, 100_000), 16),
  requests_in_flight: setting(integer('Maximum number of requests processed at the same time.', 1, 1_000_000), 1000),
  requests_per_caller: setting(
    integer('Maximum number of requests of one caller processed at the same time.', 1, 1_000_000), 250),
  connections: setting(
    integer('Maximum number of open connections; further ones are closed at once.', 1, 1_000_000), 1000),
}, 'Limits on the resources that requests use: [bounds.md](bounds.md). Read only at startup.')

/** Every bound, with its value. */
export type Bounds = Required<Static<typeof BoundsSchema>>

export function boundsOf (given: Static<typeof BoundsSchema> = {}): Bounds {
  return withDefaults(BoundsSchema, given)
}

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
const ConsoleSchema = sectionOfSettings({
  enabled: Type.Optional(flag('Whether the console is served at /console. Default: whether SERVICES_HOST is a ' +
    'loopback address; false in a gateway that is part of another app.')),
  oidc: Type.Optional(ConsoleOidcSchema),
}, 'The console: web pages that show memories and use the public API with the permissions of the user.')

export const SIGNATURE_HEADER = 'X-Signature-256'

const header = (description: string) => text('^[A-Za-z0-9-]+$', 'of letters, digits and -', description)

const SourceSchema = section({
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

const LimitsStoreSchema = sectionOfSettings({
  type: setting(choice(['vector_store', 'process', 'redis'], 'vector_store: in the database with vector_store: ' +
    'postgres, for all gateways that share it together; each process for itself with any other store. process: each ' +
    'process for itself. redis: in the Valkey or Redis of `url`, for all gateways that use it together.'),
  'vector_store'),
  url: Type.Optional(Type.String({
    minLength: 1, description: 'Connection URI of the Valkey or Redis: redis:// or, with TLS, rediss://.',
  })),
  key_prefix: setting(text('^[A-Za-z0-9_.-]{1,64}$', 'of 1 to 64 letters, digits and _.-', 'What its keys begin with.'),
    'memory_gateway'),
  timeout_ms: setting(integer('Maximum milliseconds for its answer.', 10, 10_000), 1000),
  when_down: setting(choice(['local', 'refuse'], 'While it is down, local: each process counts for itself; refuse: ' +
    'operations with a rate limit are answered 503, and so is /health.'), 'local'),
}, 'Where the use of `homeostasis.rate_limits` is counted. Read only at startup.')

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
  limits_store: LimitsStoreSchema,
  barriers: setting(BarriersSchema, {}, ''),
  signal_quality: setting(SignalQualitySchema, {}, ''),
  retrieval: setting(RetrievalSchema, {}, ''),
  reflect: setting(ReflectSchema, {}, ''),
  extraction: setting(ExtractionSchema, {}, ''),
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

export type FileConfig = Static<typeof FileSchema>
export type Grant = Static<typeof GrantSchema>
