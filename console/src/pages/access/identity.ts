import { place } from '../../state/router.js'

/** More beside each other nobody compares, and each is a request. */
export const MOST_PRINCIPALS = 6

/** For whom an operator looks, as the URL says it. */
export interface Subjects {
  /** Empty: nobody is chosen; the empty text is an anonymous caller. */
  principals: readonly string[]
  tenant: string
  onBehalfOf: string
}

export function subjectsOf (): Subjects {
  const { params } = place.value
  return {
    principals: [...new Set(params.getAll('principal'))].slice(0, MOST_PRINCIPALS),
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
