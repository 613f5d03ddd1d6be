import { Type, type Static } from 'typebox'
import { TRUST_LEVELS } from '../identity/trust.js'
import { RetrievalSchema } from './retrieval-schema.js'
import {
  choice, integer, number, pattern, Permissions, section, sectionOfSettings, setting, text, withoutDefaults, words,
} from './schema-parts.js'

export const PROFILE_NAME = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'
export const PROFILE_NAME_IN_WORDS = 'of letters, digits and ._-, at most 64 characters, the first a letter or digit'

const perMinute = (what: string) => (
  Type.Optional(integer(`${what} a minute, for each principal and bank. Unset: no limit.`, 1, 1_000_000))
)
const perDay = (what: string) => Type.Optional(integer(`${what} a UTC day, for each bank. Unset: no limit.`, 1))

export const HomeostasisSchema = section({
  recall_max_tokens: Type.Optional(integer('Tokens of hits in one recall: default and ceiling of the request\'s ' +
    'max_tokens.', 1)),
  reflect_max_tokens: Type.Optional(integer('Tokens of one reflect answer: default and ceiling of the request\'s ' +
    'max_tokens.', 1)),
  retain_max_content_bytes: Type.Optional(integer('Bytes of one content as UTF-8.', 1)),
  rate_limits: Type.Optional(section({
    retain_per_minute: perMinute('Retained items'),
    recall_per_minute: perMinute('Recalls'),
    reflect_per_minute: perMinute('Reflects'),
    forget_per_minute: perMinute('Forgets'),
    import_per_minute: perMinute('Memories that imports bring'),
    global_per_minute: perMinute('Operations of any of these kinds, and changes of the bank\'s configuration, ' +
      'together; an import is one, however many memories it brings,'),
  }, 'Token buckets. A bucket holds a minute\'s worth.')),
  quotas: Type.Optional(section({
    retain_per_day: perDay('Retained items'),
    import_per_day: perDay('Memories that imports bring'),
    reflect_per_day: perDay('Reflects'),
    model_calls_per_day: perDay('Calls of the language model'),
    model_tokens_per_day: perDay('Tokens of the language model, of prompts and answers together; before a call its ' +
      'prompt and the most that it may answer are reckoned with,'),
  }, 'Daily quotas.')),
}, 'What keeps a bank within its means.')

export const BarriersSchema = section({
  validation: sectionOfSettings({
    max_content_length: setting(integer('Characters of one content after trimming.', 1, 1_000_000), 50_000),
  }, 'What a content must be.'),
  metadata: sectionOfSettings({
    blocked_keys: setting(Type.Array(words(256), {
      maxItems: 1000,
      description: 'Metadata keys that are removed before anything is stored, compared without regard to case.',
    }), [], 'Default none.'),
    max_metadata_size_bytes: setting(integer('Bytes of one metadata map as JSON.', 2, 65_536), 4096),
  }, 'What metadata may hold.'),
}, 'What may enter a bank.')

export const SignalQualitySchema = section({
  dedup: sectionOfSettings({
    action: setting(choice(['off', 'skip', 'warn', 'update'], 'off: only exact repeats are ' +
      'recognised. skip: a near-duplicate is not stored. warn: it is stored, and the answer names what it repeats. ' +
      'update: it takes the place of what it repeats, under its id. A memory of lower trust neither replaces nor ' +
      'keeps out one of higher trust: both are stored.'), 'off'),
    threshold: setting(number('Cosine of the word counts, stop words left out, from which on a memory counts as a ' +
      'near-duplicate. Memories that differ in numbers, negations or document, or in the order of the same words, ' +
      'never do.', 0, 1), 0.9),
  }, 'What retain does with a memory that nearly repeats one of the bank.'),
}, 'What is worth keeping.')

export const ReflectSchema = section({
  timeout_ms: setting(integer('Milliseconds that one reflect may take: default and ceiling of the request\'s ' +
    'timeout_ms. A call of the language model may take three quarters of it at most, so that one that hangs is ' +
    'noticed.', 100, 600_000), 60_000),
  max_evidence: setting(integer('Memories that an answer may rest on.', 1, 100), 20),
  max_evidence_tokens: setting(integer('Tokens of these memories together.', 1, 1_000_000), 6000),
  min_score: setting(
    number('The least score: when no memory reaches it, reflect abstains and asks no model.', 0, 1), 0.2),
  min_trust: setting(choice([...TRUST_LEVELS], 'The least trust of evidence; a request may ask ' +
    'for more (`min_trust`), not for less.'), 'suspect', 'Default suspect: any.'),
}, 'How reflect answers.')

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
  mission: Type.Optional(words(4000, 'What the bank is for and how answers from it should sound. Reflect tells it to ' +
    'the language model; it never counts as evidence.')),
}

const bankFields = {
  description: Type.Optional(words(1000, 'What the bank holds, for people.')),
  profile: Type.Optional(text(PROFILE_NAME, PROFILE_NAME_IN_WORDS, 'A profile of the configuration file whose ' +
    'sections hold for the bank, under what the bank sets itself.')),
  ...bankSections,
}

const BankGrantSchema = section(
  { principal: pattern('Principal'), permissions: Permissions }, 'A grant on this bank.', 'BankGrant',
)

const bankAccess = (options: { maxItems?: number } = {}) => (
  Type.Optional(Type.Array(BankGrantSchema, { description: 'Grants on this bank, beside access_grants.', ...options }))
)

export const ProfileSchema = section(bankSections, 'Sections under a name, for banks that choose them.')

export const BankSchema = section({ access: bankAccess(), ...bankFields }, 'Settings of one bank, or of the banks ' +
  'that a pattern with one trailing * names; the literal name wins over a pattern, a longer pattern over a shorter ' +
  'one.')

/** What the admins of a bank may set for it through the API. */
export const BankConfigurationSchema = section({
  access: bankAccess({ maxItems: 200 }),
  ...bankFields,
}, 'The configuration of a bank as its admins set it.', 'BankConfig')

export type Reflect = Static<typeof ReflectSchema>
export type Profile = Static<typeof ProfileSchema>
export type BankEntry = Static<typeof BankSchema>
export type BankConfiguration = Static<typeof BankConfigurationSchema>
