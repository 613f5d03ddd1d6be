import { splitPrincipal } from './context.js'

const TYPE = /^[a-z][a-z0-9_]*$/

/**
 * The rule of `owner_only`: the principal `<type>:<id>` owns the banks that the patterns name once `{type}` and `{id}`
 * are filled in. So that no id can pose as another principal, the pattern with the most characters beside placeholders
 * that fits a bank decides alone whose it is.
 */
export function compileOwners (patterns: readonly string[]): (principal: string, bankId: string) => boolean {
  const ownText = (pattern: string) => pattern.replaceAll(/\{(type|id)\}/g, '').length
  const compiled = patterns
    .toSorted((one, other) => (
      ownText(other) - ownText(one) || Number(other.includes('{type}')) - Number(one.includes('{type}'))
    ))
    .map(compileOwnerPattern)
  return (principal, bankId) => {
    const parts = splitPrincipal(principal)
    if (parts === undefined || !TYPE.test(parts.type)) return false
    for (const pattern of compiled) {
      const owner = pattern.exec(bankId)?.groups
      if (owner !== undefined) return owner['id'] === parts.id && (owner['type'] ?? parts.type) === parts.type
    }
    return false
  }
}

/**
 * Where several types fit, the shortest counts. Where the type is omitted, an id has neither `-` nor `:`, because `a:b`
 * could equal the typed bank of another principal.
 */
function compileOwnerPattern (pattern: string): RegExp {
  const id = pattern.includes('{type}') ? '(?<id>[^]+)' : '(?<id>[^:-]+)'
  const seen = new Set<string>()
  const source = pattern.replaceAll(/\{(type|id)\}|[^{}]/g, (part, name?: 'type' | 'id') => {
    if (name === undefined) return part.replace(/[\\^$.*+?()[\]|/-]/, '\\$&')
    if (seen.has(name)) return `\\k<${name}>`
    seen.add(name)
    return name === 'id' ? id : '(?<type>[a-z][a-z0-9_]*?)'
  })
  return new RegExp(`^${source}$`)
}
