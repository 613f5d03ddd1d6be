import type { AuthMode } from '../../lib/config/config.js'
import type { FileConfig, Grant } from '../../lib/config/schema.js'

/** What a caller may do on a bank, in the order read, write, forget, admin: the letter where it may, `-` where not. */
export type Rights = `${'r' | '-'}${'w' | '-'}${'f' | '-'}${'a' | '-'}`

/** The rights of a caller on a bank. An undefined caller sends no principal. */
export type Cell = readonly [caller: string | undefined, bank: string, rights: Rights]

export interface Settings {
  name: string
  mode: Extract<AuthMode, 'dev' | 'api_key'>
  file: FileConfig
  cells: readonly Cell[]
}

type Policy = NonNullable<NonNullable<FileConfig['access_control']>['default_policy']>

const grant = (
  bankId: string, principal: string, ...permissions: Grant['permissions']
): Grant => ({ bank_id: bankId, principal, permissions })

function under (policy: Policy, ...grants: Grant[]): FileConfig {
  return { access_control: { enabled: true, default_policy: policy }, access_grants: grants }
}

/** For each permission, a grant to the caller that is named after it. */
const grantsByCaller = (bankId: string): Grant[] => [
  grant(bankId, 'user:reader', 'read'),
  grant(bankId, 'user:writer', 'write'),
  grant(bankId, 'user:forgetter', 'forget'),
  grant(bankId, 'user:admin', 'admin'),
  grant(bankId, 'user:all', '*'),
  grant(bankId, 'user:mixed', 'read', 'forget'),
]

/** For each permission, a grant on the bank that is named after it. */
const grantsByBank = (principal: string): Grant[] => [
  grant('team-r', principal, 'read'),
  grant('team-w', principal, 'write'),
  grant('team-f', principal, 'forget'),
  grant('team-a', principal, 'admin'),
  grant('team-all', principal, '*'),
]

/** The kinds of grants, each of which is tried under each default policy. */
export const GRANT_KINDS: ReadonlyArray<
  readonly [name: string, grants: Pick<FileConfig, 'access_grants' | 'banks'>]
> = [
  ['no grants', {}],
  ['a literal bank', { access_grants: grantsByCaller('team') }],
  ['a bank pattern', { access_grants: grantsByCaller('team-*') }],
  ['every bank', { access_grants: grantsByCaller('*') }],
  ['a principal pattern', { access_grants: grantsByBank('user:*') }],
  ['every principal', { access_grants: grantsByBank('*') }],
  ['every principal on every bank', { access_grants: [grant('*', '*', 'read')] }],
  [
    'the per-bank form',
    {
      banks: {
        team: { access: [{ principal: 'user:bob', permissions: ['write'] }] },
        'team-*': { access: [{ principal: 'agent:*', permissions: ['*'] }] },
        '*': { access: [{ principal: 'bob', permissions: ['admin'] }] },
      },
    },
  ],
  [
    'two grants united',
    {
      access_grants: [grant('team', 'user:bob', 'read'), grant('te*', 'user:b*', 'forget')],
      banks: { team: { access: [{ principal: 'user:*', permissions: ['write'] }] } },
    },
  ],
]
export const POLICIES: readonly Policy[] = ['owner_only', 'open', 'deny']
export const CALLERS = [
  'user:bob', 'user:reader', 'user:admin', 'user:all', 'agent:bob', 'user:bob-x', 'user:a:b', 'team:r', 'bob', ':bob',
  'user:', 'User:bob', 'user:*', '*',
] as const
export const BANKS = [
  'team', 'team-r', 'team-w', 'team-all', 'tent', 'bob', 'user-bob', 'user-bob-x', 'bob-x', 'user-a:b', 'a:b',
] as const

/** The expected rights of each caller on each bank, written by hand from the specification and the contract. */
export const MATRIX: readonly Settings[] = [
  {
    name: 'owner_only without grants',
    mode: 'dev',
    file: under('owner_only'),
    cells: [
      ['user:bob', 'user-bob', 'rwfa'], ['user:bob', 'bob', 'rwfa'], ['user:bob', 'agent-bob', '----'],
      ['user:bob', 'user-bobby', '----'],
      ['user:bob', 'user-bo', '----'], ['user:bob', 'User-bob', '----'], ['user:bob', 'user:bob', '----'],
      ['user:bob', 'team', '----'],
      ['agent:bob', 'agent-bob', 'rwfa'], ['agent:bob', 'bob', 'rwfa'], ['agent:bob', 'user-bob', '----'],
      ['user:Bob', 'user-Bob', 'rwfa'], ['user:Bob', 'user-bob', '----'],
      ['user:bob@x.test', 'user-bob@x.test', 'rwfa'], ['user:bob@x.test', 'bob@x.test', 'rwfa'],
      // An id with - or : owns its typed bank only, or it could pose as another's.
      ['user:bob-x', 'user-bob-x', 'rwfa'], ['user:bob-x', 'bob-x', '----'], ['user:a:b', 'user-a:b', 'rwfa'],
      ['user:a:b', 'a:b', '----'],
      ['team:user-bob', 'user-bob', '----'], ['team:user-bob', 'team-user-bob', 'rwfa'],
      ['x:user:bob', 'user:bob', '----'],
      // Only <type>:<id> owns anything, and only with a plain type.
      ['bob', 'bob', '----'], ['bob', 'user-bob', '----'], [':bob', 'bob', '----'], ['user:', 'user-', '----'],
      ['user:', 'user', '----'],
      ['User:bob', 'User-bob', '----'], ['User:bob', 'bob', '----'], ['1user:bob', '1user-bob', '----'],
      ['us-er:bob', 'us-er-bob', '----'],
      ['us-er:bob', 'bob', '----'], ['us.er:bob', 'bob', '----'], ['ü:bob', 'bob', '----'],
      ['user_2:bob', 'user_2-bob', 'rwfa'], ['user_2:bob', 'bob', 'rwfa'],
      ['user:{type}', 'user-user', '----'], ['user:{id}', 'user', '----'], ['user:*', 'bob', '----'],
      ['user:*', 'user-bob', '----'], ['*', 'bob', '----'], ['*:*', 'user-bob', '----'],
      [undefined, 'user-bob', 'rwfa'], [undefined, 'team', 'rwfa'],
    ],
  },
  {
    name: 'deny without grants',
    mode: 'dev',
    file: under('deny'),
    cells: [
      ['user:bob', 'user-bob', '----'], ['user:bob', 'bob', '----'], ['*', 'team', '----'], [undefined, 'team', 'rwfa'],
    ],
  },
  {
    name: 'open with grants, which never restrict',
    mode: 'api_key',
    file: under('open', grant('team', 'user:alice', 'read'), grant('user-bob', 'user:bob', 'read')),
    cells: [
      ['user:alice', 'team', 'rwfa'], ['user:bob', 'team', 'rwfa'], ['user:bob', 'user-bob', 'rwfa'],
      ['bob', 'user-bob', 'rwfa'], ['*', 'team', 'rwfa'],
    ],
  },
  {
    name: 'access control that is not enabled',
    mode: 'api_key',
    file: {
      access_control: { enabled: false, default_policy: 'deny' }, access_grants: [grant('team', 'user:bob', 'read')],
    },
    cells: [['user:bob', 'team', 'rwfa'], ['user:alice', 'team', 'rwfa'], ['*', 'user-bob', 'rwfa']],
  },
  {
    name: 'no configuration at all',
    mode: 'api_key',
    file: {},
    cells: [['user:bob', 'team', 'rwfa'], ['bob', 'user-alice', 'rwfa']],
  },
  {
    name: 'access control that names no policy, which means owner_only',
    mode: 'api_key',
    file: { access_control: { enabled: true } },
    cells: [['user:bob', 'user-bob', 'rwfa'], ['user:bob', 'team', '----']],
  },
  {
    name: 'grants of each permission on a literal bank',
    mode: 'api_key',
    file: under('deny', ...grantsByCaller('team')),
    cells: [
      ['user:reader', 'team', 'r---'], ['user:writer', 'team', '-w--'], ['user:forgetter', 'team', '--f-'],
      ['user:admin', 'team', '---a'],
      ['user:all', 'team', 'rwfa'], ['user:mixed', 'team', 'r-f-'], ['user:reader', 'user-reader', '----'],
      ['user:all', 'team-r', '----'], ['user:all', 'tea', '----'], ['user:all', 'Team', '----'],
      ['user:reader2', 'team', '----'], ['user:reade', 'team', '----'], ['User:reader', 'team', '----'],
      ['agent:reader', 'team', '----'],
      ['reader', 'team', '----'], ['user:*', 'team', '----'], ['*', 'team', '----'],
    ],
  },
  {
    name: 'grants of each permission on a bank pattern',
    mode: 'dev',
    file: under('deny', ...grantsByCaller('team-*')),
    cells: [
      ['user:reader', 'team-r', 'r---'], ['user:writer', 'team-r', '-w--'], ['user:forgetter', 'team-', '--f-'],
      ['user:admin', 'team-a-b', '---a'],
      ['user:all', 'team-x', 'rwfa'], ['user:all', 'team', '----'], ['user:all', 'steam-x', '----'],
      ['user:all', 'TEAM-x', '----'], ['user:*', 'team-r', '----'],
    ],
  },
  {
    name: 'a principal pattern',
    mode: 'api_key',
    file: under('deny', grant('team', 'user:*', 'read', 'write'), grant('team', 'agent:a*', 'forget')),
    cells: [
      ['user:bob', 'team', 'rw--'], ['user:bob-x', 'team', 'rw--'], ['user:a:b', 'team', 'rw--'],
      ['user:', 'team', 'rw--'], ['user:*', 'team', 'rw--'],
      ['agent:a', 'team', '--f-'], ['agent:ab', 'team', '--f-'], ['agent:b', 'team', '----'],
      ['agent:*', 'team', '----'],
      ['user', 'team', '----'], ['users:bob', 'team', '----'], ['User:bob', 'team', '----'],
      ['x:user:bob', 'team', '----'], ['*', 'team', '----'], ['user:bob', 'team2', '----'],
    ],
  },
  {
    name: 'every principal and every bank',
    mode: 'dev',
    file: under('deny', grant('lobby', '*', 'read'), grant('*', 'user:root', '*'), grant('*', '*', 'write')),
    cells: [
      ['user:bob', 'lobby', 'rw--'], ['bob', 'lobby', 'rw--'], ['*', 'lobby', 'rw--'], [':bob', 'lobby', 'rw--'],
      ['user:bob', 'team', '-w--'], ['user:root', 'lobby', 'rwfa'], ['user:root', 'team', 'rwfa'],
      ['user:root2', 'team', '-w--'],
    ],
  },
  {
    name: 'the per-bank form',
    mode: 'api_key',
    file: {
      ...under('deny'),
      banks: {
        team: {
          access: [{ principal: 'user:bob', permissions: ['write'] }, { principal: 'agent:*', permissions: ['read'] }],
        },
        'team-*': { access: [{ principal: 'user:bob', permissions: ['*'] }] },
        '*': { access: [{ principal: 'user:auditor', permissions: ['read'] }] },
        quiet: { homeostasis: { recall_max_tokens: 10 } },
      },
    },
    cells: [
      ['user:bob', 'team', '-w--'], ['agent:a', 'team', 'r---'], ['user:bob', 'team-x', 'rwfa'],
      ['agent:a', 'team-x', '----'],
      ['user:auditor', 'team', 'r---'], ['user:auditor', 'anything', 'r---'], ['user:bob', 'quiet', '----'],
      ['user:bob', 'constructor', '----'],
    ],
  },
  {
    name: 'grants from everywhere, united',
    mode: 'dev',
    file: {
      ...under(
        'deny', grant('team', 'user:bob', 'read'), grant('te*', 'user:bob', 'forget'), grant('*', 'user:b*', 'admin'),
      ),
      banks: { team: { access: [{ principal: 'user:bob', permissions: ['write'] }] } },
    },
    cells: [
      ['user:bob', 'team', 'rwfa'], ['user:bob', 'tent', '--fa'], ['user:bob', 'other', '---a'],
      ['user:ben', 'team', '---a'], ['user:alice', 'team', '----'],
    ],
  },
  {
    name: 'owner_only with grants, which take nothing from the owner',
    mode: 'api_key',
    file: under('owner_only', grant('user-bob', 'user:bob', 'read'), grant('user-bob', 'agent:helper', 'read')),
    cells: [
      ['user:bob', 'user-bob', 'rwfa'], ['agent:helper', 'user-bob', 'r---'], ['agent:helper', 'helper', 'rwfa'],
      ['user:alice', 'user-bob', '----'],
    ],
  },
  {
    name: 'owner patterns of the operator',
    mode: 'api_key',
    file: { access_control: { enabled: true, owner_patterns: ['{id}-notes', '{type}.{id}.x'] } },
    cells: [
      ['user:bob', 'bob-notes', 'rwfa'], ['user:bob', 'user.bob.x', 'rwfa'], ['user:bob', 'user-bob', '----'],
      ['user:bob', 'bob', '----'],
      ['user:bob-x', 'bob-x-notes', '----'], ['user:a:b', 'a:b-notes', '----'], ['user:bob-x', 'user.bob-x.x', 'rwfa'],
      ['bob', 'bob-notes', '----'],
    ],
  },
  {
    name: 'owner patterns by which an id could pose as another principal',
    mode: 'api_key',
    file: { access_control: { enabled: true, owner_patterns: ['{id}', '{type}.{id}', '{type}_{id}'] } },
    cells: [
      ['agent:bob', 'agent.bob', 'rwfa'], ['user:agent.bob', 'agent.bob', '----'], ['user:bob', 'bob', 'rwfa'],
      ['a:b_c', 'a_b_c', 'rwfa'], ['a_b:c', 'a_b_c', '----'], ['user:a_b_c', 'a_b_c', '----'],
    ],
  },
  {
    name: 'no owner patterns',
    mode: 'api_key',
    file: { access_control: { enabled: true, owner_patterns: [] }, access_grants: [grant('bob', 'user:bob', 'read')] },
    cells: [['user:bob', 'user-bob', '----'], ['user:bob', 'bob', 'r---']],
  },
]

/** A configuration with delegation, in which both the caller and the principal that it acts for need the permission. */
export const DELEGATED_FILE: FileConfig = {
  ...under(
    'owner_only', grant('team', 'agent:a', '*'), grant('team', 'user:b', 'read', 'write'),
    grant('team-2', 'agent:a', 'read'), grant('team-3', 'user:b', '*'), grant('user-b', 'agent:h', 'read'),
  ),
  identity: { obo_enabled: true },
}
export const DELEGATED: ReadonlyArray<readonly [
  caller: string, onBehalfOf: string | undefined, bank: string, rights: Rights,
]> = [
  ['agent:a', undefined, 'team', 'rwfa'], ['agent:a', 'user:b', 'team', 'rw--'], ['user:b', undefined, 'team', 'rw--'],
  ['user:b', 'agent:a', 'team', 'rw--'],
  ['agent:a', 'agent:a', 'team', 'rwfa'], ['agent:a', 'user:c', 'team', '----'], ['agent:c', 'user:b', 'team', '----'],
  ['agent:c', 'user:c', 'team', '----'],
  ['agent:a', undefined, 'team-2', 'r---'], ['agent:a', 'user:b', 'team-2', '----'],
  ['user:b', undefined, 'team-3', 'rwfa'], ['agent:a', 'user:b', 'team-3', '----'],
  // The rights of an owner are not transferred: a principal that acts for the owner needs its own.
  ['user:b', undefined, 'user-b', 'rwfa'], ['agent:a', 'user:b', 'user-b', '----'],
  ['user:b', 'agent:a', 'user-b', '----'], ['agent:h', 'user:b', 'user-b', 'r---'],
  ['agent:b', 'user:b', 'b', 'rwfa'], ['agent:a', 'user:*', 'team', '----'], ['agent:a', '*:*', 'team', '----'],
]
