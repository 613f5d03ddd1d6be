import type { ErrorObject } from 'ajv'
import { nearest } from '../errors/wording.js'
import { fromPointer } from './paths.js'
import { FileSchema, type FileConfig } from './schema.js'

const PROVIDERS = ['vector_store', 'llm_provider', 'embedding_provider', 'reranker']
/** Sections that are checked with each other. */
const GROUPS = [...PROVIDERS.map((name) => [name, `${name}_config`]), ['banks', 'profiles']]

/**
 * The sections of an invalid file that can be checked further, so that their problems are reported together with those
 * of the schema. Sections that are checked with a wrong one are left out: a problem of theirs may be its consequence.
 */
export function validSections (value: Record<string, unknown>, errors: readonly ErrorObject[]): FileConfig {
  const wrong = new Set(errors.flatMap((error) => sectionsOf(error, value)))
  for (const name of PROVIDERS) if (!Object.hasOwn(value, name)) wrong.add(name)
  for (const group of GROUPS) if (group.some((key) => wrong.has(key))) for (const key of group) wrong.add(key)
  return Object.fromEntries(Object.entries(value).filter(([key]) => !wrong.has(key)))
}

/** The section of an error, and for an unknown key also the one that was probably meant. */
function sectionsOf ({ instancePath, params }: ErrorObject, value: Record<string, unknown>): string[] {
  const [section] = fromPointer(instancePath, value)
  if (section !== undefined) return [String(section)]
  const unknown = String(params['additionalProperty'])
  return [unknown, nearest(unknown, Object.keys(FileSchema.properties)) ?? unknown]
}
