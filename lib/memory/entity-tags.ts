import { createHash } from 'node:crypto'
import { ServiceError } from '../errors/service-error.js'
import type { BankConfig } from '../stores/bank-configs.js'

/** A condition of a change: the configuration has one of these entity tags, or any configuration is set. */
export type Precondition = readonly string[] | 'set'

/** The entity tag of a bank without a configuration of its own. */
export const UNSET_ETAG = '"r0"'

/**
 * The entity tag (RFC 9110, section 8.8.3) of a configuration: a digest of what its admins can read anyway. Revisions
 * are counted over all banks, so a tag with one, even hashed, would tell how often other tenants change theirs.
 *
 * Two changes have the same tag only if the same principal sets the same configuration twice within a millisecond. A
 * change that is based on one of them loses nothing of the other.
 */
export function etagOf ({ document, updatedAt, updatedBy }: Omit<BankConfig, 'revision'>): string {
  const digest = createHash('sha256').update(JSON.stringify([updatedAt, updatedBy, document])).digest('base64url')
  return `"${digest.slice(0, 22)}"`
}

/** @param etag of the configuration in force @throws ServiceError precondition_failed */
export function requirePrecondition (precondition: Precondition | undefined, etag: string): void {
  if (precondition === undefined) return
  const holds = precondition === 'set' ? etag !== UNSET_ETAG : precondition.includes(etag)
  if (!holds) {
    throw new ServiceError(
      'precondition_failed', 'The configuration of the bank is not one that If-Match or If-None-Match allows',
    )
  }
}
