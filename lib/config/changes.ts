import { isDeepStrictEqual } from 'node:util'
import { formatPath, type Path } from './paths.js'
import type { FileConfig } from './schema.js'
import { isJsonObject } from '../validation/json-object.js'

/** Keys of the file that only a start reads: providers and what is built around them, the routes of sources, the auth mode's own. */
const RESTART_KEYS: ReadonlyArray<readonly string[]> = [
  ['vector_store'], ['vector_store_config'], ['llm_provider'], ['llm_provider_config'], ['embedding_provider'], ['embedding_provider_config'],
  ['reranker'], ['reranker_config'], ['retrieval', 'weights', 'semantic'], ['escalation', 'circuit_breaker'], ['identity', 'obo_enabled'], ['sources'], ['bounds'],
  ['compatibility'], ['mcp'],
  ['console'],
]

/** What differs between two configuration files. */
export interface FileChanges {
  /** Paths of values that were added, removed or changed, in the order of the files. Never a value. */
  changed: string[]
  /** Those of them that need a restart. */
  restartRequired: string[]
}

export function fileChanges (before: FileConfig, after: FileConfig): FileChanges {
  const paths = differences(before, after, [])
  return {
    changed: paths.map(formatPath),
    restartRequired: paths.filter((path) => RESTART_KEYS.some((key) => key.every((part, index) => path[index] === part))).map(formatPath),
  }
}

/** A map that is absent is an empty one: a section that comes into the file changes what stands in it, and nothing else. */
function differences (before: unknown, after: unknown, path: Path): Path[] {
  if (isDeepStrictEqual(before, after)) return []
  const [old, next] = [before ?? {}, after ?? {}]
  if (!isJsonObject(old) || !isJsonObject(next)) return [path]
  const below = [...new Set([...Object.keys(old), ...Object.keys(next)])].flatMap((key) => differences(old[key], next[key], [...path, key]))
  return below.length > 0 ? below : [path]
}
