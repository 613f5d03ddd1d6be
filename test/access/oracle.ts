import type { FileConfig } from '../../lib/config/schema.js'
import type { Rights } from './matrix.js'

/*
 * A second implementation of access control, written from the specification as simply as possible, which the product is
 * compared with. It supports the default owner patterns only.
 */

const LETTERS = { read: 'r', write: 'w', forget: 'f', admin: 'a' } as const

function fits (pattern: string, name: string): boolean {
  return pattern.endsWith('*')
    ? `${name}`.substring(0, pattern.length - 1) === pattern.substring(0, pattern.length - 1)
    : pattern === name
}

function owns (caller: string, bank: string): boolean {
  const [, type, id] = /^([a-z][a-z0-9_]*):(.+)$/.exec(caller) ?? []
  if (type === undefined || id === undefined) return false
  return bank === `${type}-${id}` || (bank === id && !id.includes('-') && !id.includes(':'))
}

/** What a caller may do on a bank; an undefined caller is the anonymous one of dev mode. */
export function rightsOf (caller: string | undefined, bank: string, file: FileConfig): Rights {
  const { enabled = false, default_policy: policy = 'owner_only' } = file.access_control ?? {}
  const grants = (file.access_grants ?? []).concat(Object.entries(file.banks ?? {})
    .flatMap(([name, { access = [] }]) => access.map((entry) => ({ bank_id: name, ...entry }))))
  const letters = Object.entries(LETTERS).map(([permission, letter]) => {
    if (!enabled || caller === undefined || policy === 'open') return letter
    if (policy === 'owner_only' && owns(caller, bank)) return letter
    const granted = grants.some((grant) => (
      fits(grant.bank_id, bank) && fits(grant.principal, caller) &&
        grant.permissions.some((name) => name === '*' || name === permission)
    ))
    return granted ? letter : '-'
  })
  return letters.join('') as Rights
}
