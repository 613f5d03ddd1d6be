import { place } from '../../state/router.js'

/** The most principals at once, because each needs a request for each page of banks. */
export const MOST_PRINCIPALS = 50
/** More principals than this are shown with a letter for each permission, and without the rules. */
export const MOST_DETAILED = 6

/** The callers that an operator inspects, from the URL. */
export interface Subjects {
  /** Empty when nobody is chosen; an empty string is an anonymous caller. */
  principals: readonly string[]
  tenant: string
  onBehalfOf: string
  /** The number of principals in the URL that are left out. */
  left: number
}

export function subjectsOf (): Subjects {
  const { params } = place.value
  const named = [...new Set(params.getAll('principal'))]
  return {
    principals: named.slice(0, MOST_PRINCIPALS),
    left: Math.max(0, named.length - MOST_PRINCIPALS),
    tenant: params.get('tenant') ?? '',
    onBehalfOf: params.get('on_behalf_of') ?? '',
  }
}

/** The members of a request that name a caller; empty fields are omitted. */
export function identityOf (
  principal: string, tenant: string, onBehalfOf: string,
): { principal?: string, tenant_id?: string, on_behalf_of?: string } {
  return {
    ...(principal !== '' && { principal }),
    ...(tenant !== '' && { tenant_id: tenant }),
    ...(onBehalfOf !== '' && { on_behalf_of: onBehalfOf }),
  }
}
