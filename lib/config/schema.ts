import { Type, type Static, type TNumber, type TObject, type TOptional, type TProperties } from 'typebox'
import { BANK_ID, BANK_ID_IN_WORDS } from '../validation/ids.js'
import { TRUST_LEVELS } from '../identity/trust.js'
import { BoundsSchema } from './bounds.js'
import { REMOVED_SCORERS, SCORER_TABLE } from './scorer-table.js'

// Annotations that validation passes over: `x-allowed` says a pattern in words, `x-keys` what the keys of a map name, `x-removed` what takes
// the place of a key that there is no more.
// Messages and the reference (docs/configuration.md) are made of them.

const PROFILE_NAME = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'
const PROFILE_NAME_IN_WORDS = 'of letters, digits and ._-, at most 64 characters, the first a letter or digit'

/** An object of the configuration file: a key that it does not list is a mistake, never ignored. */
function section<P extends TProperties> (properties: P, description: string): TObject<P> {
  return Type.Object(properties, { additionalProperties: false, description })
}

/** A weight for each scorer. */
function scorerWeights (): Record<keyof typeof SCORER_TABLE, TOptional<TNumber>> {
  const weights = Object.entries(SCORER_TABLE).map(([name, { weight, about }]) => [name, Type.Optional(Type.Number({ minimum: -100, maximum: 100, description: `${about} Default ${weight}.` }))])
  return Object.fromEntries(weights) as Record<keyof typeof SCORER_TABLE, TOptional<TNumber>>
}

const perMinute = (what: string) => Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, description: `${what} a minute, for each principal and bank. Unset: no limit.` }))
const perDay = (what: string) => Type.Optional(Type.Integer({ minimum: 1, description: `${what} a UTC day, for each bank. Unset: no limit.` }))

export const HomeostasisSchema = section({
  recall_max_tokens: Type.Optional(Type.Integer({ minimum: 1, description: 'Tokens of hits in one recall: default and ceiling of the request\'s max_tokens.' })),
  reflect_max_tokens: Type.Optional(Type.Integer({ minimum: 1, description: 'Tokens of one reflect answer: default and ceiling of the request\'s max_tokens.' })),
  retain_max_content_bytes: Type.Optional(Type.Integer({ minimum: 1, description: 'Bytes of one content as UTF-8.' })),
  rate_limits: Type.Optional(section({
    retain_per_minute: perMinute('Retained items'),
    recall_per_minute: perMinute('Recalls'),
    reflect_per_minute: perMinute('Reflects'),
    forget_per_minute: perMinute('Forgets'),
    import_per_minute: perMinute('Memories that imports bring'),
    global_per_minute: perMinute('Operations of any of these kinds, and changes of the bank\'s configuration, together; an import is one, however many memories it brings,'),
  }, 'Token buckets. A bucket holds a minute\'s worth.')),
  quotas: Type.Optional(section({
    retain_per_day: perDay('Retained items'),
    import_per_day: perDay('Memories that imports bring'),
    reflect_per_day: perDay('Reflects'),
    model_calls_per_day: perDay('Calls of the language model'),
    model_tokens_per_day: perDay('Tokens of the language model, of prompts and answers together; before a call its prompt and the most that it may answer are reckoned with,'),
  }, 'Daily quotas.')),
}, 'What keeps a bank within its means.')

export const BarriersSchema = section({
  validation: Type.Optional(section({
    max_content_length: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Characters of one content after trimming. Default 50000.' })),
  }, 'What a content must be.')),
  metadata: Type.Optional(section({
    blocked_keys: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 256, 'x-allowed': 'of 1 to 256 characters' }), { maxItems: 1000, description: 'Metadata keys that are removed before anything is stored, compared without regard to case. Default none.' })),
    max_metadata_size_bytes: Type.Optional(Type.Integer({ minimum: 2, maximum: 65_536, description: 'Bytes of one metadata map as JSON. Default 4096.' })),
  }, 'What metadata may hold.')),
}, 'What may enter a bank.')

export const SignalQualitySchema = section({
  dedup: Type.Optional(section({
    action: Type.Optional(Type.Enum(['off', 'skip', 'warn', 'update'], { description: 'off: only exact repeats are recognised. skip: a near-duplicate is not stored. warn: it is stored, and the answer names what it repeats. update: it takes the place of what it repeats, under its id. What is trusted less neither replaces nor keeps out what is trusted more: both are stored. Default off.' })),
    threshold: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: 'Cosine of the word counts, stop words left out, from which on a memory counts as a near-duplicate. Never are those that differ in numbers, negations or document, or tell the same words in another order. Default 0.9.' })),
  }, 'What retain does with a memory that nearly repeats one of the bank.')),
}, 'What is worth keeping.')

const Permission = Type.Enum(['read', 'write', 'forget', 'admin', '*'])
const Permissions = Type.Array(Permission, { minItems: 1, description: '`*` is all four; `admin` implies none of the others, but whoever has it may grant rights on the bank unless access_control.bank_grants is false.' })
const pattern = (what: string) => Type.String({ pattern: '^[^\\s*]*\\*?$', minLength: 1, 'x-allowed': 'without spaces, with * only as the last character', description: `${what}; one trailing * matches any rest.` })

const TrustOfWriter = (description: string) => Type.Enum(['untrusted', 'trusted'], { description })

export const GrantSchema = section({
  bank_id: pattern('Bank id'),
  principal: pattern('Principal'),
  permissions: Permissions,
}, 'One access grant.')

export const ReflectSchema = section({
  timeout_ms: Type.Optional(Type.Integer({ minimum: 100, maximum: 600_000, description: 'Milliseconds that one reflect may take: default and ceiling of the request\'s timeout_ms. A call of the language model may take three quarters of it at most, so that one that hangs is noticed. Default 60000.' })),
  max_evidence: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Memories that an answer may rest on. Default 20.' })),
  max_evidence_tokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Tokens of these memories together. Default 6000.' })),
  min_score: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: 'The floor: when no memory scores this much, reflect abstains and asks no model. Default 0.2.' })),
  min_trust: Type.Optional(Type.Enum([...TRUST_LEVELS], { description: 'The least trust of evidence; a request may ask for more (`min_trust`), not for less. Default suspect: any.' })),
}, 'How reflect answers.')

export const RetrievalSchema = section({
  weights: Type.Optional(section({
    lexical: Type.Optional(Type.Number({ minimum: 0, maximum: 100, description: 'Weight of the lexical (BM25) score. Default 1.' })),
    semantic: Type.Optional(Type.Number({ minimum: 0, maximum: 100, description: 'Weight of the semantic (embedding) score. Default: what the embedding provider says of itself; mock 0.' })),
  }, 'Weights of the strategies in the fused score.')),
  fusion: Type.Optional(Type.Enum(['linear', 'rrf'], { description: 'How the strategies are put together: linear adds up their scores, each as a share of the best one found; rrf looks at ranks alone. Default linear.' })),
  scorers: Type.Optional(Type.Object(scorerWeights(), {
    additionalProperties: false,
    description: 'Weights of what a candidate is judged by beside the strategies, next to a lexical weight of 1; 0 switches one off.',
    'x-removed': REMOVED_SCORERS,
  })),
  diversity: Type.Optional(Type.Number({ minimum: 0, maximum: 100, description: 'What each earlier hit of the same document takes from a candidate, beside a lexical weight of 1, when the query asks for several things (which, what … s, how many). 0: nothing. Default 0.1.' })),
  semantic_timeout_ms: Type.Optional(Type.Integer({ minimum: 1, maximum: 600_000, description: 'Milliseconds that the embedding of a query may take; past them recall answers without it, marked degraded. Default 3000.' })),
  rerank: Type.Optional(section({
    candidates: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'How many of the best candidates the reranker judges. Default 100.' })),
    timeout_ms: Type.Optional(Type.Integer({ minimum: 1, maximum: 600_000, description: 'Milliseconds that it may take; past them recall answers in the order without it, marked degraded. Default 1500.' })),
    weight: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: 'Share of the reranker in the new score. Default 0.8.' })),
  }, 'How the reranker is used, when `reranker` names one.')),
  rewrite: Type.Optional(section({
    enabled: Type.Optional(Type.Boolean({ description: 'Whether a recall may ask for it (`rewrite: true`). Default false.' })),
    max_queries: Type.Optional(Type.Integer({ minimum: 1, maximum: 8, description: 'Wordings that are searched beside the query. Default 3.' })),
    timeout_ms: Type.Optional(Type.Integer({ minimum: 1, maximum: 600_000, description: 'Milliseconds that the language model may take; past them recall answers without it, marked degraded. Default 3000.' })),
  }, 'Other wordings of a query, by the language model.')),
  model_rerank: Type.Optional(section({
    enabled: Type.Optional(Type.Boolean({ description: 'Whether a recall may ask for it (`model_rerank: true`). Default false.' })),
    candidates: Type.Optional(Type.Integer({ minimum: 2, maximum: 50, description: 'How many of the best candidates it orders. Default 20.' })),
    timeout_ms: Type.Optional(Type.Integer({ minimum: 1, maximum: 600_000, description: 'Milliseconds that it may take; past them recall answers in the order without it, marked degraded. Default 5000.' })),
    weight: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: 'Its share in the new score. Default 0.8.' })),
  }, 'Reranking by the language model, in the place of `reranker`.')),
  bm25: Type.Optional(section({
    k1: Type.Optional(Type.Number({ minimum: 0, maximum: 10, description: 'Saturation of term frequency. Default 0.9.' })),
    pivot: Type.Optional(Type.Number({ minimum: 1, maximum: 100_000, description: 'Words, stop words left out, up to which a text pays nothing for its length; above it pays in proportion. Default 25.' })),
    b: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: 'Takes the place of the pivot: a text pays for its length beside the average of the bank, 0 nothing to 1 in proportion. Unset: the pivot holds.' })),
  }, 'BM25 parameters.')),
  context: Type.Optional(Type.Boolean({ description: 'Whether a memory is also found by the words of its neighbours in the document. Default true.' })),
  chunk_max_characters: Type.Optional(Type.Integer({ minimum: 200, maximum: 50_000, description: 'Content over this length is split into passages for search. Default 2000.' })),
}, 'How recall ranks.')

/** What an operator may say under `banks.<id>` and `profiles.<name>`, and the admins of a bank of the bank itself. */
const bankSections = {
  homeostasis: Type.Optional(HomeostasisSchema),
  barriers: Type.Optional(BarriersSchema),
  signal_quality: Type.Optional(SignalQualitySchema),
  retrieval: Type.Optional(RetrievalSchema),
  reflect: Type.Optional(ReflectSchema),
  mission: Type.Optional(Type.String({ minLength: 1, maxLength: 4000, 'x-allowed': 'of 1 to 4000 characters', description: 'What the bank is for and how answers from it should sound. Reflect tells it to the language model; it never counts as evidence.' })),
}

const bankFields = {
  description: Type.Optional(Type.String({ minLength: 1, maxLength: 1000, 'x-allowed': 'of 1 to 1000 characters', description: 'What the bank holds, for people.' })),
  profile: Type.Optional(Type.String({ pattern: PROFILE_NAME, 'x-allowed': PROFILE_NAME_IN_WORDS, description: 'A profile of the configuration file whose sections hold for the bank, under what the bank sets itself.' })),
  ...bankSections,
}

const bankAccess = (options: { maxItems?: number } = {}) => Type.Optional(Type.Array(section({ principal: pattern('Principal'), permissions: Permissions }, 'A grant on this bank.'), {
  description: 'Grants on this bank, beside access_grants.',
  ...options,
}))

export const ProfileSchema = section(bankSections, 'Sections under a name, for banks that choose them.')

export const BankSchema = section({ access: bankAccess(), ...bankFields }, 'Settings of one bank, or of the banks that a pattern with one trailing * names; the literal name wins over a pattern, a longer pattern over a shorter one.')

/** What the admins of a bank may set for it through the API. */
export const BankConfigurationSchema = section({ access: bankAccess({ maxItems: 200 }), ...bankFields }, 'The configuration of a bank as its admins set it.')

export const EscalationSchema = section({
  circuit_breaker: Type.Optional(section({
    failure_threshold: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Faults of the language model in a row after which it is not asked for a while: no connection, no answer in time, 5xx, a refused key, an unusable answer. Counted for the provider, and for each tenant. Default 5.' })),
    recovery_timeout_seconds: Type.Optional(Type.Number({ minimum: 0.001, maximum: 3600, description: 'Seconds until it is tried again. Default 30.' })),
    half_open_max_calls: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Calls that try it at a time; the first good answer closes the circuit. Default 1.' })),
  }, 'When the language model counts as down.')),
  degraded_mode: Type.Optional(Type.Enum(['error', 'extractive'], { description: 'What reflect does when the language model cannot be had: error answers 503; extractive answers with sentences of the memories, marked degraded. Default error.' })),
}, 'What happens when the language model fails.')

const price = (what: string) => Type.Number({ minimum: 0, maximum: 1_000_000, description: `Price of a million ${what} tokens, in a currency of your choice.` })

const providerName = (byDefault: string) => Type.String({ minLength: 1, description: `A registered name, or module:Class (a package, or a path relative to this file). Default ${byDefault}.` })
const providerConfig = Type.Record(Type.String(), Type.Unknown(), { description: 'Handed to the provider as it stands.' })

export const SourceSchema = section({
  type: Type.Literal('webhook', { description: 'The kind of source.' }),
  target_bank: Type.String({ pattern: `^${BANK_ID}$`, 'x-allowed': `a bank id ${BANK_ID_IN_WORDS}`, description: 'The bank that receives the events.' }),
  tenant_id: Type.Optional(Type.String({ pattern: '^(?=.*\\S)[^\\p{Cc}\\p{Cs}]{1,256}$', 'x-allowed': 'of 1 to 256 characters that are not all blank', description: 'Tenant that the bank belongs to, as tokens of jwt_oidc tell it. Default: the tenant of callers who have none.' })),
  principal: Type.Optional(Type.String({ pattern: '^[^\\s\\p{C}\\p{Z}]{1,256}$', 'x-allowed': 'of 1 to 256 visible characters without spaces', description: 'Who retains them. Default service:<source_id>.' })),
  content_path: Type.Optional(Type.String({ pattern: '^(/([^~/]|~[01])*)+$', 'x-allowed': 'a JSON pointer such as /data/content', description: 'JSON pointer (RFC 6901) to the content. Default /content, else /text.' })),
  auth: Type.Union([
    section({ type: Type.Literal('none', { description: 'Anybody may send.' }) }, 'No proof.'),
    section({
      type: Type.Literal('hmac', { description: 'HMAC-SHA256 in hex over the raw body.' }),
      secret: Type.String({ minLength: 1, description: 'The secret shared with the sender.' }),
      header: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9-]+$', 'x-allowed': 'of letters, digits and -', description: 'Header of the signature. Default X-Signature-256.' })),
      timestamp_header: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9-]+$', 'x-allowed': 'of letters, digits and -', description: 'Header of the Unix time in seconds that is signed with the body; five minutes of tolerance.' })),
    }, 'A shared secret.'),
  ], { description: 'How a sender proves itself.' }),
  trust: Type.Optional(TrustOfWriter('How far its memories are believed; identity.trust may lower it for its principal. Default trusted with auth hmac, untrusted with auth none.')),
}, 'A webhook that retains what it is sent.')

/**
 * The configuration file (SERVICES_CONFIG_PATH): its type, its validator and its reference in one.
 * A section stands here only together with the code that makes it work.
 */
export const FileSchema = section({
  vector_store: Type.Optional(providerName('in_memory')),
  vector_store_config: Type.Optional(providerConfig),
  llm_provider: Type.Optional(providerName('mock')),
  llm_provider_config: Type.Optional(providerConfig),
  embedding_provider: Type.Optional(providerName('mock')),
  embedding_provider_config: Type.Optional(providerConfig),
  reranker: Type.Optional(providerName('none')),
  reranker_config: Type.Optional(providerConfig),
  access_control: Type.Optional(section({
    enabled: Type.Optional(Type.Boolean({ description: 'Default false.' })),
    default_policy: Type.Optional(Type.Enum(['owner_only', 'open', 'deny'], { description: 'What holds when no grant matches. Default owner_only.' })),
    owner_patterns: Type.Optional(Type.Array(Type.String({ pattern: '^(?:[^{}]|\\{type\\})*\\{id\\}(?:[^{}]|\\{type\\}|\\{id\\})*$', 'x-allowed': 'with {id} in it, and no placeholder but {type} and {id}' }), { description: 'Banks that a principal <type>:<id> owns. Default ["{type}-{id}", "{id}"].' })),
    bank_grants: Type.Optional(Type.Boolean({ description: 'Whether the admins of a bank may grant rights on it (`access` in the configuration of the bank). Default true.' })),
  }, 'Whether and how callers are kept apart.')),
  access_grants: Type.Optional(Type.Array(GrantSchema, { description: 'Who may do what on which banks.' })),
  banks: Type.Optional(Type.Record(Type.String({ pattern: `^(${BANK_ID}\\*?|\\*)$` }), BankSchema, {
    additionalProperties: false,
    'x-keys': `a bank id ${BANK_ID_IN_WORDS}; one trailing * makes it a pattern`,
    description: 'Settings of single banks.',
  })),
  profiles: Type.Optional(Type.Record(Type.String({ pattern: PROFILE_NAME }), ProfileSchema, {
    additionalProperties: false,
    'x-keys': `a name ${PROFILE_NAME_IN_WORDS}`,
    description: 'Named sets of sections, which a bank chooses with `profile`.',
  })),
  identity: Type.Optional(section({
    obo_enabled: Type.Optional(Type.Boolean({ description: 'Accept delegated identities (RFC 8693 act claim, X-Service-On-Behalf-Of). Default false.' })),
    trust: Type.Optional(Type.Array(section({
      principal: pattern('Principal'),
      trust: TrustOfWriter('How far what these principals write is believed.'),
    }, 'The trust of some principals.'), { description: 'Trust of the memories that principals write. A literal principal wins over a pattern, a longer pattern over a shorter one; `*` also means anonymous callers. With an on-behalf-of identity the lower of both holds. Default: trusted.' })),
  }, 'How callers are understood.')),
  bounds: Type.Optional(BoundsSchema),
  homeostasis: Type.Optional(HomeostasisSchema),
  barriers: Type.Optional(BarriersSchema),
  signal_quality: Type.Optional(SignalQualitySchema),
  retrieval: Type.Optional(RetrievalSchema),
  reflect: Type.Optional(ReflectSchema),
  escalation: Type.Optional(EscalationSchema),
  prices: Type.Optional(Type.Record(Type.String({ pattern: '^\\S{1,256}$' }), section({ input: price('prompt'), output: price('answer') }, 'Prices of one model.'), {
    additionalProperties: false,
    'x-keys': 'the name of a model, as llm_provider_config.model has it',
    description: 'What models cost. With a price, `usage.cost` tells what a call did. Default: none.',
  })),
  sources: Type.Optional(Type.Record(Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$' }), SourceSchema, {
    additionalProperties: false,
    'x-keys': 'a source id of letters, digits and ._-, at most 128 characters, the first a letter or digit',
    description: 'What sends memories in by itself.',
  })),
}, 'Memory Gateway configuration file.')

export type FileConfig = Static<typeof FileSchema>
export type Homeostasis = Static<typeof HomeostasisSchema>
export type Barriers = Static<typeof BarriersSchema>
export type Reflect = Static<typeof ReflectSchema>
export type Escalation = Static<typeof EscalationSchema>
export type SignalQuality = Static<typeof SignalQualitySchema>
export type Grant = Static<typeof GrantSchema>
export type Retrieval = Static<typeof RetrievalSchema>
export type Profile = Static<typeof ProfileSchema>
export type BankEntry = Static<typeof BankSchema>
export type BankConfiguration = Static<typeof BankConfigurationSchema>
export type SourceConfig = Static<typeof SourceSchema>

export type AuthMode = 'dev' | 'api_key' | 'jwt_hs256' | 'jwt_oidc'

/** Settings of authentication. A mode whose own setting is missing answers 500 and names it. */
export interface AuthConfig {
  mode: AuthMode
  apiKey?: string
  jwtSecret?: string
  jwtAudience?: string
  jwtIssuer?: string
  oidcJwksUrl?: string
  oidcIssuer?: string
  oidcAudience?: string
  /** Trimmed and lower-cased. Default `user`. */
  oidcActorType: string
}

/** Everything that the process reads at start, checked and frozen. */
export interface Config {
  host: string
  /** 0 lets the system choose. */
  port: number
  /** Port of its own for the metrics, 0 as above. Absent: they are served on `port`, behind the admin token. */
  metricsPort?: number
  /** Where traces go, the whole URL. Absent: nowhere. */
  tracesUrl?: string
  logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'
  maxBodyBytes: number
  /** In dev mode, host names and addresses that the server is also asked under; `*.` stands for any name before. Default: none. */
  allowedHosts?: readonly string[]
  healthTimeoutMs: number
  shutdownTimeoutMs: number
  auth: AuthConfig
  adminToken?: string
  /** With the variable that the URI came from, itself or by its file. */
  database: { url?: string, variable?: 'DATABASE_URL' | 'SERVICES_PG_DSN' }
  file: FileConfig
  /** The variables that the file's provider settings name (`api_key_env`) and that are set. */
  environment?: Readonly<Record<string, string>>
  /** Where relative provider paths start: the folder of the configuration file, else the working directory. */
  baseDirectory: string
  /** Sentences for the log: nothing wrong, but worth knowing. */
  warnings: string[]
}
