import { isBankId } from '../identity/context.js'
import type { SchemaNode } from '../validation/schema-node.js'

/** A list of a request, and its maximum length. */
export interface BoundedList {
  name: string
  maxItems: number
}

/** The top-level lists of a request that have a maximum length. */
export function boundedLists ({ properties = {} }: SchemaNode): BoundedList[] {
  return Object.entries(properties).flatMap(([name, { maxItems }]) => (
    maxItems === undefined ? [] : [{ name, maxItems }]
  ))
}

/**
 * The banks that a request names, before it is validated, so that access to them can be decided first.
 * @returns undefined when the envelope of the request is invalid, which its validation reports
 */
export function namedBanks (body: unknown, lists: readonly BoundedList[]): string[] | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined
  const members = body as Record<string, unknown>
  for (const { name, maxItems } of lists) {
    const list = members[name]
    if (Array.isArray(list) && list.length > maxItems) return undefined
  }
  const { bank_id: bankId } = members
  // A request that takes one bank has no bound on this list.
  const banks = lists.some(({ name }) => name === 'banks') ? members['banks'] : undefined
  if (typeof bankId === 'string' && (banks === undefined || banks === null)) {
    return isBankId(bankId) ? [bankId] : undefined
  }
  if ((bankId !== undefined && bankId !== null) || !Array.isArray(banks) || banks.length === 0) return undefined
  return banks.every((bank): bank is string => typeof bank === 'string' && isBankId(bank)) ? banks : undefined
}
