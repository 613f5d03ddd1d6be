import type { BankConfig, BankConfigAnswer } from 'memory-gateway-client'
import { valueAt } from '../../text/value-at.js'
import { LIMITS } from './limits.js'

export type Grant = NonNullable<BankConfig['access']>[number]

/** What the user has changed, by the path of each setting; an empty text removes it. */
export interface SettingsDraft {
  texts: Readonly<Record<string, string>>
  /** Undefined: unchanged. */
  grants: readonly Grant[] | undefined
}

export const NO_CHANGES: SettingsDraft = { texts: {}, grants: undefined }
const TEXTS = ['description', 'mission']

/** The bank's own value as a text; empty: it has none. */
export function ownText ({ config }: BankConfigAnswer, path: string): string {
  const value = valueAt(config, path)
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

export function ownGrants ({ config }: BankConfigAnswer): readonly Grant[] {
  return config.access ?? []
}

/** The draft without what equals the bank's own values. */
export function changesOf (answer: BankConfigAnswer, { texts, grants }: SettingsDraft): SettingsDraft {
  return {
    texts: Object.fromEntries(Object.entries(texts).filter(([path, text]) => text !== ownText(answer, path))),
    grants: JSON.stringify(grants) === JSON.stringify(ownGrants(answer)) ? undefined : grants,
  }
}

export function hasChanges ({ texts, grants }: SettingsDraft): boolean {
  return Object.keys(texts).length > 0 || grants !== undefined
}

/** The merge patch of a draft: null removes a value. */
export function patchOf ({ texts, grants }: SettingsDraft): Record<string, unknown> {
  const patch: Record<string, unknown> = {}
  for (const path of [...TEXTS, ...LIMITS.map((limit) => limit.path)]) {
    const text = texts[path]
    if (text === undefined) continue
    put(patch, path.split('.'), text.trim() === '' ? null : TEXTS.includes(path) ? text : Number(text))
  }
  if (grants !== undefined) patch['access'] = grants.length === 0 ? null : grants
  return patch
}

function put (target: Record<string, unknown>, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    target[name] = value
    return
  }
  const inner: unknown = target[name]
  const members: Record<string, unknown> = typeof inner === 'object' && inner !== null ? { ...inner } : {}
  put(members, rest, value)
  target[name] = members
}
