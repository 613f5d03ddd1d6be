import { withoutUndefined } from '../validation/members.js'
import type { FileConfig } from './schema.js'

/** Callers send the names of banks and sources; in maps without a prototype, `constructor` finds nothing. */
export function withNullPrototypeMaps (file: FileConfig): FileConfig {
  return {
    ...file,
    ...withoutUndefined({
      banks: file.banks && withNullPrototype(file.banks), sources: file.sources && withNullPrototype(file.sources),
    }),
  }
}

function withNullPrototype<T> (map: Record<string, T>): Record<string, T> {
  const empty: Record<string, T> = Object.create(null)
  return Object.assign(empty, map)
}
