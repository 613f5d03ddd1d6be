import { Type, type Static } from 'typebox'
import { TRUST_LEVELS } from '../identity/trust.js'
import { RetrievalSchema } from './retrieval-schema.js'
import { choice, integer, number, pattern, Permissions, text, words } from './schema-parts.js'
import { section, sectionOfSettings, setting, withoutDefaults } from '../validation/defaults.js'

export const PROFILE_NAME = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'
export const PROFILE_NAME_IN_WORDS = 'of letters, digits and ._-, at most 64 characters, the first a letter or digit'

const perMinute = (what: string, note = '') => (
  Type.Optional(integer(`${what} per minute, for each principal and bank.${note} Unset: no limit.`, 1, 1_000_000))
)
const perDay = (what: string, note = '') => (
  Type.Optional(integer(`${what} per UTC day, for each bank.${note} Unset: no limit.`, 1))
)

export const HomeostasisSchema = section({
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
  }, 'Rate limits, as token buckets. A bucket holds the tokens of one minute.')),
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

export const SignalQualitySchema = section({
  dedup: sectionOfSettings({
    action: setting(choice(['off', 'skip', 'warn', 'update'], 'off: only exact repeats are ' +
      'detected. skip: a near-duplicate is not stored. warn: it is stored, and the answer names the memory that it ' +
      'repeats. update: it replaces that memory and keeps its id. A memory of lower trust neither replaces one of ' +
      'higher trust nor prevents it from being stored: both are stored.'), 'off'),
    threshold: setting(number('Minimum cosine of the word counts, without stop words, at which a memory counts as ' +
      'a near-duplicate. Memories that differ in numbers, negations or document, or in the order of the same words, ' +
      'are never near-duplicates.', 0, 1), 0.9),
  }, 'What retain does with a memory that nearly repeats one in the bank.'),
}, 'Deduplication.')

export const ReflectSchema = section({
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

export const ProfileSchema = section(bankSections, 'A named set of sections for the banks that choose it.')

export const BankSchema = section({ access: bankAccess(), ...bankFields }, 'Settings of one bank, or of the banks ' +
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
