import { isJsonObject } from '../lib/base/json-object.js'

/**
 * Reads answers of a server and contents of files without trusting them: a member of a wrong type counts as absent, and
 * commands print only what is present.
 */
export type Answer = Readonly<Record<string, unknown>>

export function recordOf (value: unknown): Answer {
  return isJsonObject(value) ? value : {}
}

/** The objects of a list. */
export function recordsOf (value: unknown): Answer[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

export function textsOf (value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

export function textOf (value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

export function numberOf (value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}
