import type { AccessSettings, GrantRule } from '../access/access-control.js'
import type { FileConfig } from '../config/schema.js'

/** The grants of `access_grants` and of every `banks.<id>.access`, merged, each with its place in the file. */
export function accessSettings (file: FileConfig): AccessSettings {
  const { access_control: control, access_grants: grants = [], banks = {} } = file
  const listed = grants.map((grant, index): GrantRule => ({ bankId: grant.bank_id, principal: grant.principal, permissions: grant.permissions, origin: `access_grants[${index}]` }))
  const perBank = Object.entries(banks).flatMap(([bankId, { access = [] }]) => access.map((grant, index): GrantRule => (
    { bankId, principal: grant.principal, permissions: grant.permissions, origin: `banks.${bankId}.access[${index}]` }
  )))
  return {
    enabled: control?.enabled ?? false,
    defaultPolicy: control?.default_policy ?? 'owner_only',
    ...(control?.owner_patterns !== undefined && { ownerPatterns: control.owner_patterns }),
    grants: [...listed, ...perBank],
  }
}
