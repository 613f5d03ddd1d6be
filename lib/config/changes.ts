import { isDeepStrictEqual } from 'node:util'
import { formatPath, type Path } from './problems.js'
import type { FileConfig } from './schema.js'
import { isJsonObject } from '../validation/json-object.js'

/** Keys that are read at the start only, because providers, plugins or routes are built from them. */
export const RESTART_KEYS: ReadonlyArray<readonly string[]> = [
  ['vector_store'], ['vector_store_config'], ['llm_provider'], ['llm_provider_config'], ['embedding_provider'],
  ['embedding_provider_config'], ['reranker'], ['reranker_config'], ['retrieval', 'weights', 'semantic'],
  ['escalation', 'circuit_breaker'], ['identity', 'obo_enabled'], ['sources'], ['bounds'], ['mcp'],
  ['console'],
]

/** The differences between two configuration files. */
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
    restartRequired: paths.filter(needsRestart).map(formatPath),
  }
}

function needsRestart (path: Path): boolean {
  return RESTART_KEYS.some((key) => key.every((part, index) => path[index] === part))
}

/** An absent map counts as an empty one, so a section that is added to the file changes only the values in it. */
function differences (before: unknown, after: unknown, path: Path): Path[] {
  if (isDeepStrictEqual(before, after)) return []
  const [old, next] = [before ?? {}, after ?? {}]
  if (!isJsonObject(old) || !isJsonObject(next)) return [path]
  const keys = new Set([...Object.keys(old), ...Object.keys(next)])
  const below = [...keys].flatMap((key) => differences(old[key], next[key], [...path, key]))
  return below.length > 0 ? below : [path]
}
