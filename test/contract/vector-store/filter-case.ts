import type { Filters } from '../../../lib/stores/vector-store.js'
import type { MemoryFields } from '../../helpers/memories.js'

export interface FilterCase {
  about: string
  filters: Filters
  /** By name; every memory is found by the query, so only the filter decides. */
  memories: Record<string, MemoryFields>
  /** Names of the memories that pass. */
  expected: string[]
}
