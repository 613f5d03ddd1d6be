import { place } from '../../state/router.js'

/** Each is a request for each page of banks. */
export const MOST_PRINCIPALS = 50
/** More are shown with a letter for each permission, and without the rules. */
export const MOST_DETAILED = 6

/** For whom an operator looks, as the URL says it. */
export interface Subjects {
  /** Empty: nobody is chosen; the empty text is an anonymous caller. */
  principals: readonly string[]
  tenant: string
  onBehalfOf: string
  /** How many more the URL names than are looked at. */
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

/** The members of a request that name a caller; an empty field is none. */
export function identityOf (
  principal: string, tenant: string, onBehalfOf: string,
): { principal?: string, tenant_id?: string, on_behalf_of?: string } {
  return {
    ...(principal !== '' && { principal }),
    ...(tenant !== '' && { tenant_id: tenant }),
    ...(onBehalfOf !== '' && { on_behalf_of: onBehalfOf }),
  }
}
