import { Type, type Static } from 'typebox'
import { PERMISSIONS } from '../../access/access-control.js'
import {
  strict, nullable, optionalOrUndefined, BankId, TenantId, pageFields, BANKS_CURSOR,
} from './common.js'

const Permission = Type.Enum([...PERMISSIONS], { title: 'Permission' })
const Principal = (description: string) => Type.String({
  minLength: 1, maxLength: 256, description, examples: ['user:alice'],
})
export const AccessQuery = strict(pageFields)

export const AccessAnswer = strict({
  principal: nullable(),
  tenant_id: nullable(),
  on_behalf_of: nullable(),
  banks: Type.Array(strict({
    bank_id: BankId,
    permissions: Type.Array(strict({
      permission: Permission,
      granted_by: Type.String({
        description: 'The grant or policy that gives the permission.',
      }),
    }, { title: 'PermissionGrant' })),
  }, { title: 'BankAccess' })),
  next_cursor: nullable({ description: BANKS_CURSOR }),
}, {
  title: 'AccessPage',
  description: 'The permissions of a principal on each bank, and the rule that gives each of them.',
  examples: [{
    principal: 'user:alice',
    tenant_id: null,
    on_behalf_of: null,
    banks: [{ bank_id: 'user-alice', permissions: [{ permission: 'read', granted_by: 'default_policy owner_only' }] }],
    next_cursor: null,
  }],
})

const identity = {
  principal: Type.Optional(Principal('Absent: an anonymous caller; required outside dev mode, where there is none.')),
  tenant_id: Type.Optional(TenantId('Absent: callers without a tenant.')),
  on_behalf_of: Type.Optional(Principal('The principal on whose behalf the caller acts.')),
}

export const AdminAccessQuery = strict({ ...identity, ...pageFields })

export const AccessCheckRequest = strict({ ...identity, bank_id: BankId, permission: Permission }, {
  title: 'AccessCheck',
  description: 'The permission to check. The bank need not exist.',
  examples: [{ principal: 'user:alice', bank_id: 'team', permission: 'read' }],
})

export const AccessDecision = strict({
  allowed: Type.Boolean(),
  granted_by: nullable({ description: 'The grant or policy that gives the permission; null when none does.' }),
  reason: Type.String({ description: 'The reason as a sentence; for a denial, the `detail` that the caller gets.' }),
}, {
  title: 'AccessDecision',
  description: 'The decision on one permission.',
  examples: [{ allowed: false, granted_by: null, reason: "Principal 'user:alice' is denied 'write' on bank 'team'" }],
})

/** Maximum number of grants in the rules. */
export const MAX_GRANTS = 1000

export const AccessRulesAnswer = strict({
  enabled: Type.Boolean({ description: 'False: every caller has every permission.' }),
  default_policy: Type.Enum(['owner_only', 'open', 'deny'], {
    description: 'The policy that applies when no grant matches.',
  }),
  owner_patterns: Type.Array(Type.String(), {
    description: 'Patterns of the banks that a principal owns, for owner_only.',
  }),
  grants: Type.Array(strict({
    bank_id: Type.String({ description: 'A bank, or a prefix before one trailing `*`.' }),
    principal: Type.String({ description: 'A principal, or a prefix before one trailing `*`.' }),
    permissions: Type.Array(Type.Enum([...PERMISSIONS, '*'])),
    origin: Type.String({ description: 'Path of the grant in the configuration.' }),
  }, { title: 'GrantRule' }), { description: `The first ${MAX_GRANTS} grants.` }),
  truncated: Type.Boolean({ description: 'True when there are more grants.' }),
}, {
  title: 'AccessRules',
  description: 'The rules of the configuration file. Grants in the configuration of a bank add to them.',
  examples: [{
    enabled: true,
    default_policy: 'owner_only',
    owner_patterns: ['user-{id}'],
    grants: [{ bank_id: 'team', principal: 'user:*', permissions: ['read'], origin: 'access_grants[0]' }],
    truncated: false,
  }],
})

export type AccessQuery = Static<typeof AccessQuery>
export type AccessAnswer = Static<typeof AccessAnswer>
export type AdminAccessQuery = Static<typeof AdminAccessQuery>
export type AccessCheckRequest = Static<typeof AccessCheckRequest>
export type AccessDecision = Static<typeof AccessDecision>
export type AccessRulesAnswer = Static<typeof AccessRulesAnswer>

export const WhoamiQuery = strict({ bank_id: Type.Optional(BankId) })

export const WhoamiAnswer = strict({
  principal: nullable(),
  actor: Type.Unsafe<{ type: string, id: string, claims: Record<string, string> } | null>({
    title: 'Actor',
    description: 'The actor of the request, in jwt_oidc mode.',
    type: ['object', 'null'],
    properties: {
      type: { type: 'string' },
      id: { type: 'string' },
      claims: { type: 'object', additionalProperties: { type: 'string' } },
    },
    required: ['type', 'id', 'claims'],
    additionalProperties: false,
  }),
  tenant_id: nullable(),
  on_behalf_of: nullable(),
  permissions: optionalOrUndefined(Type.Array(strict({ permission: Permission, granted_by: Type.String() }, {
    title: 'GrantedPermission',
  }), { description: 'Permissions of the caller on the bank that `?bank_id=` names.' })),
}, {
  title: 'WhoamiAnswer',
  description: 'The caller, as the service sees it.',
  examples: [{ principal: 'user:alice', actor: null, tenant_id: null, on_behalf_of: null }],
})

export type WhoamiAnswer = Static<typeof WhoamiAnswer>
