import fc from '../helpers/fast-check.js'
import type { BankFile, Document, Sections } from './oracle.js'

export const ROOT = 'service:root'
export const PRINCIPALS = [ROOT, 'user:ann', 'user:bob', 'user:lead', 'agent:bot']
/**
 * One with an owner by either pattern, two under a pattern of the file, one of them with an entry of its own, one that
 * the file does not know.
 */
export const BANKS = ['user-ann', 'bob', 'team-red', 'team-blue', 'shared']

const STRICT = {
  homeostasis: { recall_max_tokens: 500 },
  barriers: { validation: { max_content_length: 300 } },
  reflect: { min_trust: 'untrusted' },
}
const TERSE = { mission: 'Answer in one sentence.', reflect: { max_evidence: 4 }, retrieval: { diversity: 0.5 } }
const LOOSE = { homeostasis: { recall_max_tokens: 9000 }, reflect: { min_score: 0 } }

/** What the processes are started with. */
const FIRST: BankFile = {
  access_control: { enabled: true, default_policy: 'owner_only', bank_grants: true },
  access_grants: [
    { bank_id: '*', principal: ROOT, permissions: ['*'] },
    { bank_id: 'team-*', principal: 'user:lead', permissions: ['admin'] },
    { bank_id: 'team-*', principal: 'user:*', permissions: ['read'] },
  ],
  global: {
    homeostasis: {
      recall_max_tokens: 4000,
      reflect_max_tokens: 6000,
      retain_max_content_bytes: 900,
      rate_limits: {
        retain_per_minute: 400_000,
        recall_per_minute: 400_000,
        reflect_per_minute: 400_000,
        forget_per_minute: 400_000,
        import_per_minute: 400_000,
        global_per_minute: 500_000,
      },
      quotas: {
        retain_per_day: 2_000_000,
        import_per_day: 2_000_000,
        reflect_per_day: 2_000_000,
        model_calls_per_day: 2_000_000,
        model_tokens_per_day: 2_000_000,
      },
    },
    barriers: { validation: { max_content_length: 800 }, metadata: { blocked_keys: ['password'] } },
    retrieval: { diversity: 0.4 },
    reflect: { min_score: 0.3 },
  },
  profiles: { strict: STRICT, terse: TERSE, loose: LOOSE },
  banks: {
    'team-*': {
      profile: 'strict', description: 'A team', access: [{ principal: 'agent:bot', permissions: ['write'] }],
    },
    'team-blue': { homeostasis: { recall_max_tokens: 6000 }, barriers: { metadata: { blocked_keys: ['pin'] } } },
  },
}

/**
 * What an operator may put in its place: tighter, without grants by banks, without one of the profiles, with other
 * grants of its own.
 */
const SECOND: BankFile = {
  ...FIRST,
  access_control: { ...FIRST.access_control, bank_grants: false },
  access_grants: [
    FIRST.access_grants[0]!, { bank_id: 'shared', principal: 'user:bob', permissions: ['admin', 'write'] },
  ],
  global: {
    ...FIRST.global,
    homeostasis: { recall_max_tokens: 700, retain_max_content_bytes: 400 },
    reflect: { min_score: 0.6, min_trust: 'untrusted' },
  },
  profiles: { strict: STRICT, terse: { ...TERSE, reflect: { max_evidence: 3 } } },
}

export const FILES: readonly BankFile[] = [FIRST, SECOND]

const pick = <T>(...values: T[]) => fc.constantFrom(...values)
const some = <T extends object>(members: { [Key in keyof T]: fc.Arbitrary<T[Key]> }) => fc.record(members, {
  requiredKeys: [], noNullPrototype: true,
})

const grant = fc.record({
  principal: pick('user:ann', 'user:bob', 'user:lead', 'user:*', 'agent:*', 'agent:bot', 'agent:b', 'service:*', '*'),
  permissions: fc.uniqueArray(pick('read', 'write', 'forget', 'admin', '*'), { minLength: 1, maxLength: 3 }),
}, { noNullPrototype: true })

const sections = {
  description: pick('One', 'Two', 'Three'),
  mission: pick('Be brief.', 'Be kind.'),
  access: fc.array(grant, { maxLength: 3 }),
  homeostasis: some({
    recall_max_tokens: pick(100, 300, 500, 600, 4000, 8000),
    reflect_max_tokens: pick(50, 5000),
    retain_max_content_bytes: pick(150, 200, 350, 500, 1000),
    rate_limits: some({
      retain_per_minute: pick(200_000, 300_000, 400_000, 800_000),
      forget_per_minute: pick(300_000),
      import_per_minute: pick(200_000, 300_000),
    }),
    quotas: some({ retain_per_day: pick(1_000_000), import_per_day: pick(500_000), model_calls_per_day: pick(10, 20) }),
  }),
  barriers: some({
    validation: some({ max_content_length: pick(100, 200, 250, 300, 700, 50_001) }),
    metadata: some({
      blocked_keys: fc.uniqueArray(pick('password', 'pin', 'secret')),
      max_metadata_size_bytes: pick(200, 300, 4096, 5000),
    }),
  }),
  signal_quality: some({ dedup: some({ threshold: pick(0.8, 0.95) }) }),
  retrieval: some({
    diversity: pick(0, 0.3),
    fusion: pick('linear', 'rrf'),
    bm25: some({ k1: pick(1, 2) }),
    weights: some({ lexical: pick(1, 2, 2, 2, 0), semantic: pick(0, 0, 0, 0, 1) }),
    rewrite: some({
      enabled: pick(false, false, true), max_queries: pick(1, 2, 3), timeout_ms: pick(1000, 2000, 3000, 4000),
    }),
  }),
  reflect: some({
    min_score: pick(0, 0.3, 0.6, 0.7, 0.8),
    min_trust: pick('suspect', 'untrusted', 'untrusted', 'trusted'),
    max_evidence: pick(3, 4, 10, 20, 21),
    timeout_ms: pick(5000, 60_000),
  }),
}

/** A few sections at a time: with all of them hardly any would be within every ceiling. */
const wellFormed: fc.Arbitrary<Document> = fc.uniqueArray(
  pick(...Object.keys(sections) as Array<keyof typeof sections>, 'access', 'access', 'barriers'), { maxLength: 3 },
)
  .chain((names) => fc.record(
    Object.fromEntries(names.map((name) => [name, sections[name as keyof typeof sections] as fc.Arbitrary<unknown>])),
    { noNullPrototype: true },
  ))
const document: fc.Arbitrary<Document> = fc.tuple(wellFormed, fc.option(
  pick('strict', 'strict', 'strict', 'terse', 'terse', 'terse', 'loose', 'unheard'), { freq: 2, nil: undefined },
))
  .map(([some, profile]) => ({ ...some, ...(profile !== undefined && { profile }) }))

/** What no configuration of a bank may have, with the field that an answer names. */
const malformed = pick<[Sections, string]>(
  [{ colour: 'red' }, 'colour'],
  [{ llm_provider: 'mock' }, 'llm_provider'],
  [{ homeostasis: { recall_max_tokens: -1 } }, 'homeostasis.recall_max_tokens'],
  [{ homeostasis: { unheard: 1 } }, 'homeostasis.unheard'],
  [{ access: [{ principal: 'user:*x', permissions: ['read'] }] }, 'access[0].principal'],
  [{ access: [{ principal: 'user:ann', permissions: ['own'] }] }, 'access[0].permissions[0]'],
  [{ access: [{ bank_id: 'shared', principal: 'user:ann', permissions: ['read'] }] }, 'access[0].bank_id'],
  [{ reflect: { min_trust: 'blind' } }, 'reflect.min_trust'],
)

const removals = fc.uniqueArray(
  pick('description', 'mission', 'profile', 'access', 'homeostasis', 'barriers', 'retrieval', 'reflect'),
  { maxLength: 3 },
)

export type IfMatch = 'absent' | 'right' | 'wrong' | 'any'

export interface Change {
  bank: string
  principal: string
  ifMatch: IfMatch
  /** race: both processes at once, on the same revision. merge: both at once, each another member. */
  action: 'put' | 'patch' | 'reset' | 'remove' | 'race' | 'merge'
  document: Document
  /** Members that a patch takes away. */
  removed: string[]
  /** What is wrong in the form of the document, and the field. */
  malformed: [Sections, string] | undefined
}

export interface Round {
  /** For each process the file that it is made to read, or none. */
  reloads: Array<number | undefined>
  /** For each bank the process that takes its changes in this round. */
  homes: number[]
  /** Whether the other process gets no request until two seconds have passed. */
  quiet: boolean
  changes: Change[]
}

const change: fc.Arbitrary<Change> = fc.record({
  bank: pick(...BANKS),
  principal: fc.oneof({ weight: 4, arbitrary: fc.constant(ROOT) }, { weight: 3, arbitrary: pick(...PRINCIPALS) }),
  ifMatch: pick<IfMatch>('absent', 'absent', 'right', 'wrong', 'any'),
  action: pick(
    'put', 'put', 'put', 'put', 'put', 'patch', 'patch', 'patch', 'patch', 'reset', 'remove', 'race', 'merge',
  ),
  document,
  removed: removals,
  malformed: fc.oneof({ weight: 7, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: malformed }),
})

/** Values that are looser than what the first file, or a default, allows; each is possible by its form. */
const LOOSER: ReadonlyArray<[section: string, group: string | undefined, name: string, value: unknown]> = [
  ...['recall_max_tokens', 'reflect_max_tokens', 'retain_max_content_bytes'].map(
    (name): [string, undefined, string, number] => ['homeostasis', undefined, name, 9_000_000],
  ),
  ...['retain', 'recall', 'reflect', 'forget', 'import', 'global'].map(
    (kind): [string, string, string, number] => ['homeostasis', 'rate_limits', `${kind}_per_minute`, 1_000_000],
  ),
  ...['retain', 'import', 'reflect', 'model_calls', 'model_tokens'].map(
    (kind): [string, string, string, number] => ['homeostasis', 'quotas', `${kind}_per_day`, 9_000_000],
  ),
  ['barriers', 'validation', 'max_content_length', 1_000_000],
  ['barriers', 'metadata', 'max_metadata_size_bytes', 65_536],
  ['retrieval', 'weights', 'semantic', 1],
  ['retrieval', undefined, 'semantic_timeout_ms', 600_000],
  ['retrieval', 'rerank', 'timeout_ms', 600_000],
  ['retrieval', 'rewrite', 'enabled', true],
  ['retrieval', 'rewrite', 'max_queries', 8],
  ['retrieval', 'rewrite', 'timeout_ms', 600_000],
  ['retrieval', 'model_rerank', 'enabled', true],
  ['retrieval', 'model_rerank', 'candidates', 50],
  ['retrieval', 'model_rerank', 'timeout_ms', 600_000],
  ['reflect', undefined, 'timeout_ms', 600_000],
  ['reflect', undefined, 'max_evidence', 100],
  ['reflect', undefined, 'max_evidence_tokens', 1_000_000],
  ['reflect', undefined, 'min_score', 0],
  // Of the bank's profile in the file.
  ['reflect', undefined, 'min_trust', 'suspect'],
]

/** Every limit once, beyond what is allowed; all that the rules have to say of them is no. */
export function tooLoose (bank: string): Change[] {
  return LOOSER.map(([section, group, name, value]) => ({
    bank,
    principal: ROOT,
    ifMatch: 'absent',
    action: 'patch',
    document: { [section]: group === undefined ? { [name]: value } : { [group]: { [name]: value } } },
    removed: [],
    malformed: undefined,
  }))
}

/** @param size how many changes a round has */
export function rounds (count: number, size: number, seed: number): Round[] {
  const reload = fc.option(fc.nat(FILES.length - 1), { freq: 2, nil: undefined })
  const round = fc.record({
    reloads: fc.tuple(reload, reload).map((both): Array<number | undefined> => both),
    homes: fc.array(fc.nat(1), { minLength: BANKS.length, maxLength: BANKS.length }),
    quiet: fc.boolean(),
    changes: fc.array(change, { minLength: size, maxLength: size, size: 'max' }),
  })
  return fc.sample(round, { numRuns: count, seed })
}

/** The header If-Match of a change. */
export function ifMatchOf ({ ifMatch }: Change, etag: string): Record<string, string> {
  switch (ifMatch) {
    case 'absent': return {}
    case 'right': return { 'if-match': `"elsewhere", ${etag}` }
    case 'wrong': return { 'if-match': '"r999999", "elsewhere"' }
    case 'any': return { 'if-match': '*' }
  }
}

/** Whether the malformed members remain after a patch, which may remove them before they are checked. */
export function stillMalformed (next: Document, wrong: Sections): boolean {
  return Object.keys(wrong).every((name) => next[name] !== undefined)
}
