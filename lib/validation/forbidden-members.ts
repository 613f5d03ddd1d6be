import secureJson from 'secure-json-parse'

/** JSON has a member that would cause prototype poisoning. The message completes "The request body …". */
export class ForbiddenMember extends SyntaxError {
  constructor (member: string) {
    super(`must not have a member ${member}`)
  }
}

/**
 * Parses JSON; a byte order mark is ignored.
 * @throws ForbiddenMember
 * @throws SyntaxError when it is not JSON
 */
export function parseSafely (json: Buffer | string): unknown {
  try {
    return secureJson.parse(json)
  } catch (error) {
    // The error does not name the member. Only JSON that is refused is parsed a second time.
    const value: unknown = JSON.parse(json.toString().replace(/^\ufeff/, ''))
    for (const node of objectsIn(value)) refuseForbiddenMember(node)
    throw error
  }
}

/**
 * The value and all values within it, as far as they are objects or arrays.
 * @param seen counts the values that were looked at
 */
export function * objectsIn (value: unknown, seen = { values: 0 }): Generator<object, void> {
  const open: object[] = isObject(value) ? [value] : []
  while (open.length > 0) {
    const node = open.pop()!
    yield node
    const members: unknown[] = Object.values(node)
    seen.values += members.length
    for (const member of members) if (isObject(member)) open.push(member)
  }
}

function isObject (value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** @throws ForbiddenMember */
export function refuseForbiddenMember (node: object): void {
  if (Object.hasOwn(node, '__proto__')) throw new ForbiddenMember('"__proto__"')
  if (!Object.hasOwn(node, 'constructor')) return
  const { constructor: member } = node as { constructor: unknown }
  if (isObject(member) && Object.hasOwn(member, 'prototype')) {
    throw new ForbiddenMember('"constructor" that has a member "prototype"')
  }
}

/** Why JSON is refused, without quoting it. The text completes "The request body …". */
export function reasonOf (error: unknown): string {
  return error instanceof ForbiddenMember ? error.message : 'is not valid JSON'
}
