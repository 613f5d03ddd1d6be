import { ServiceError } from '../errors/service-error.js'
import type { StoredConfig } from './bank-directory.js'

/** A condition of a change: one of these revisions is in force, or any configuration is set. */
export type Precondition = readonly number[] | 'set'

/** An entity tag (RFC 9110, section 8.8.3) of a revision. */
export function etagOf (revision: number): string {
  return `"r${revision}"`
}

/** @returns the revision of an entity tag made by etagOf; undefined for any other */
export function revisionOf (etag: string): number | undefined {
  const digits = /^"r(0|[1-9]\d{0,14})"$/.exec(etag)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** @throws ServiceError precondition_failed */
export function requirePrecondition (
  precondition: Precondition | undefined, existing: Pick<StoredConfig, 'revision'> | undefined,
): void {
  if (precondition === undefined) return
  const holds = precondition === 'set' ? existing !== undefined : precondition.includes(existing?.revision ?? 0)
  if (!holds) {
    throw new ServiceError(
      'precondition_failed', 'The configuration of the bank is not one that If-Match or If-None-Match allows',
    )
  }
}
