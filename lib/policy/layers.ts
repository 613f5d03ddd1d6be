import type { BankSections } from '../config/schema.js'
import { isJsonObject } from '../validation/json-object.js'

/** The origin of a setting's value. */
export type Origin = 'default' | 'file' | 'profile' | 'bank'

/** The sections of one origin. */
export interface Layer {
  origin: Origin
  sections: Readonly<Record<string, unknown>>
}

/** Merged sections. */
export interface Merged {
  sections: BankSections
  /** The origin of each value by its path, such as `homeostasis.rate_limits.retain_per_minute`. */
  origin: Readonly<Record<string, Origin>>
}

/**
 * Merges sections value by value; a list is one value.
 * @param layers later ones win; the first has the defaults
 */
export function mergeLayers (layers: readonly Layer[]): Merged {
  const sections: Record<string, unknown> = {}
  const origin: Record<string, Origin> = {}
  for (const layer of layers) layOver(sections, layer.sections, '', layer.origin, origin)
  // The layer of defaults has every section and every required value of BankSections.
  return { sections: sections as unknown as BankSections, origin }
}

function layOver (
  target: Record<string, unknown>, source: Readonly<Record<string, unknown>>, prefix: string, from: Origin,
  origin: Record<string, Origin>,
): void {
  for (const [key, value] of Object.entries(source)) {
    if (value === undefined) continue
    const path = `${prefix}${key}`
    if (isJsonObject(value)) {
      const below = isJsonObject(target[key]) ? target[key] : {}
      target[key] = below
      layOver(below, value, `${path}.`, from, origin)
    } else {
      target[key] = value
      origin[path] = from
    }
  }
}

/** The sections with another value at a path; only the maps along the path are copied. */
export function withValueAt<T> (sections: T, path: string, value: unknown): T {
  const [key, ...rest] = path.split('.')
  const map: Record<string, unknown> = isJsonObject(sections) ? sections : {}
  return { ...map, [key!]: rest.length === 0 ? value : withValueAt<unknown>(map[key!], rest.join('.'), value) } as T
}
