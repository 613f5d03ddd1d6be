import { isDeepStrictEqual } from 'node:util'
import { formatPath, isMap, type Path } from './paths.js'
import type { FileConfig } from './schema.js'

/** Keys of the file that only a start reads: providers and what is built around them, the routes of sources, the auth mode's own. */
const RESTART_KEYS: ReadonlyArray<readonly string[]> = [
  ['vector_store'], ['vector_store_config'], ['llm_provider'], ['llm_provider_config'], ['embedding_provider'], ['embedding_provider_config'],
  ['reranker'], ['reranker_config'], ['retrieval', 'weights', 'semantic'], ['escalation', 'circuit_breaker'], ['identity', 'obo_enabled'], ['sources'],
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
    restartRequired: paths.filter((path) => RESTART_KEYS.some((key) => key.every((part, index) => path[index] === part || index >= path.length))).map(formatPath),
  }
}

function differences (before: unknown, after: unknown, path: Path): Path[] {
  if (isDeepStrictEqual(before, after)) return []
  // A section that is new, or gone, counts by what it says: only some of it may need a restart.
  const [old, next] = [before ?? (hasKeys(after) ? {} : undefined), after ?? (hasKeys(before) ? {} : undefined)]
  if (!isMap(old) || !isMap(next)) return [path]
  return [...new Set([...Object.keys(old), ...Object.keys(next)])].flatMap((key) => differences(old[key], next[key], [...path, key]))
}

function hasKeys (value: unknown): boolean {
  return isMap(value) && Object.keys(value).length > 0
}
