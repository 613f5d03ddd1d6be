import { isJsonObject } from '../lib/validation/json-object.js'

/**
 * Reads what a server or a file says. Nothing is believed of it: a member of another type counts as absent, and what
 * the command prints is what is there.
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
