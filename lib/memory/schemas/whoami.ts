import { Type, type Static } from 'typebox'
import { PERMISSIONS } from '../../access/access-control.js'
import { strict, nullable, BankId, optionalOrUndefined } from './common.js'

const Permission = Type.Enum([...PERMISSIONS], { title: 'Permission' })
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
