import { route } from '../../state/router.js'

/** Maximum number of principals at a time, because each needs a request for each page of banks. */
export const MAX_PRINCIPALS = 50
/** More principals than this are shown with a letter for each permission, and without the rules. */
export const MAX_DETAILED_PRINCIPALS = 6

/** The callers that an operator inspects, from the URL. */
export interface Subjects {
  /** Empty when nobody is chosen; an empty string is an anonymous caller. */
  principals: readonly string[]
  tenant: string
  onBehalfOf: string
  /** The number of principals in the URL that are omitted. */
  omitted: number
}

export function subjectsOf (): Subjects {
  const { params } = route.value
  const allPrincipals = [...new Set(params.getAll('principal'))]
  return {
    principals: allPrincipals.slice(0, MAX_PRINCIPALS),
    omitted: Math.max(0, allPrincipals.length - MAX_PRINCIPALS),
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
