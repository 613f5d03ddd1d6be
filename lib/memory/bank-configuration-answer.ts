import type { BankKey } from '../identity/context.js'
import type { BankConfig } from '../stores/bank-configs.js'
import { withoutUndefined } from '../validation/members.js'
import { readStored, type StoredConfig } from './bank-directory.js'
import type { Dependencies } from './dependencies.js'
import { etagOf, UNSET_ETAG } from './entity-tags.js'
import { nullableInstant } from './records.js'
import type { BankConfigAnswer } from './schemas.js'

/** Its tag is of the stored text, which the parsed configuration no longer has. */
export interface TaggedConfig extends StoredConfig {
  etag: string
}

export function withEtag (config: BankConfig): TaggedConfig {
  return { ...readStored(config), etag: etagOf(config) }
}

/** A bank's own configuration, the settings in force, and the origin of each value. */
export function toAnswer (
  key: BankKey, stored: TaggedConfig | undefined, { live, access }: Pick<Dependencies, 'live' | 'access'>,
): BankConfigAnswer {
  const { operator, bankGrants } = live.current
  const { access: own = [], ...sections } = stored?.configuration ?? {}
  const { sections: effective, origin } = operator.explain(key.bankId, sections)
  const granted = access.grantsOn(key.bankId).map(({ principal, permissions }) => (
    { principal, permissions: [...permissions] }
  ))
  const ownInForce = bankGrants ? own : []
  const origins: BankConfigAnswer['origin'] = {
    ...origin, access: ownInForce.length > 0 ? 'bank' : granted.length > 0 ? 'file' : 'default',
  }
  const profile = operator.profileOf(key.bankId, sections.profile)
  if (profile !== undefined) origins['profile'] = profile.origin
  return {
    config: stored?.configuration ?? {},
    effective: withoutUndefined({ access: [...granted, ...ownInForce], ...effective, profile: profile?.name }),
    origin: origins,
    ceilings: operator.ceilings(key.bankId),
    etag: stored?.etag ?? UNSET_ETAG,
    updated_at: nullableInstant(stored?.updatedAt ?? null),
    updated_by: stored?.updatedBy ?? null,
  }
}
