import { isDeepStrictEqual } from 'node:util'
import { invalidField, type ServiceError } from '../../lib/errors/service-error.js'
import type { BankConfigAnswer } from '../../lib/memory/schemas.js'
import { unsupported } from './route.js'
import type { SentNames } from './sent-names.js'
import { isJsonObject } from '../../lib/validation/json-object.js'
import { withoutUndefined } from '../../lib/validation/members.js'

/** The middle of the scale of each disposition trait. Answers here have no disposition, so it is the only value. */
export const NEUTRAL = 3
export const MISSION = 'reflect_mission'
/** Prefix of Hindsight's environment variables, whose names its API accepts for settings too. */
const VARIABLE = 'HINDSIGHT_API_'

type Patch = Record<string, unknown>

/** Maps a setting to the gateway's own. @param value null resets it @throws ServiceError */
type Mapping = (value: unknown, field: string, hasReranker: boolean) => Patch

/** For a setting that has only one value in this server; any other is refused. */
const fixed = (values: readonly unknown[], why: string): Mapping => (value, field) => {
  if (value !== null && !values.includes(value)) throw unsupported(field, why)
  return {}
}

const NOT_EXTRACTED = 'content is stored and searched as it is here, and nothing is extracted from it'
const NO_OBSERVATIONS = 'no observations are made of memories here'
const NO_TRAITS = `a character of answers is not adjustable here, only ${NEUTRAL} (neutral) is; say it in ${MISSION}`

const MAPPINGS: Readonly<Record<string, Mapping>> = {
  [MISSION]: (value, field) => {
    if (value !== null && typeof value !== 'string') throw wrongType(field, 'a text')
    return { mission: value === '' ? null : value }
  },
  retain_chunk_size: (value, field) => {
    if (value !== null && typeof value !== 'number') throw wrongType(field, 'a number')
    return { retrieval: { chunk_max_characters: value } }
  },
  enable_reranking: (value, field, hasReranker) => {
    if (value !== null && typeof value !== 'boolean') throw wrongType(field, 'true or false')
    if (value === true && !hasReranker) throw unsupported(field, 'the server has no reranker')
    // Without a reranker it is off already, and the gateway refuses settings without effect.
    return { retrieval: { rerank: { weight: value === false && hasReranker ? 0 : null } } }
  },
  retain_extraction_mode: fixed(['chunks', 'verbatim'], NOT_EXTRACTED),
  retain_mission: fixed([''], NOT_EXTRACTED),
  retain_custom_instructions: fixed([''], NOT_EXTRACTED),
  retain_structured_chunk_size: fixed([], 'content is split by its length alone here; use retain_chunk_size'),
  enable_observations: fixed([false], NO_OBSERVATIONS),
  observations_mission: fixed([''], NO_OBSERVATIONS),
  enable_temporal_retrieval: fixed([true], 'the times that a query names always count here'),
  enable_graph_retrieval: fixed([false], 'there are no entities here whose links could be followed'),
  disposition_skepticism: fixed([NEUTRAL], NO_TRAITS),
  disposition_literalism: fixed([NEUTRAL], NO_TRAITS),
  disposition_empathy: fixed([NEUTRAL], NO_TRAITS),
}

/** Resets every setting that Hindsight's API can set here. */
export const RESET: Patch = { mission: null, retrieval: { chunk_max_characters: null, rerank: { weight: null } } }

/** A setting as the caller sent it. */
export interface SentSetting {
  /** Hindsight's name, or that of its environment variable. */
  name: string
  value: unknown
  /** What errors call it. */
  field: string
}

export interface NamedPatch {
  patch: Patch
  names: SentNames
}

/**
 * Converts Hindsight's settings to a merge patch of the gateway's own.
 * @throws ServiceError invalid_request for a name that Hindsight does not have; not_supported
 */
export function patchOf (settings: Iterable<SentSetting>, hasReranker: boolean): NamedPatch {
  const patch: Patch = {}
  const names = new Map<string, string>()
  for (const { name: given, value, field } of settings) {
    const name = given.startsWith(VARIABLE) ? given.slice(VARIABLE.length).toLowerCase() : given
    const mapping = Object.hasOwn(MAPPINGS, name) ? MAPPINGS[name] : undefined
    if (mapping === undefined) {
      const known = Object.keys(MAPPINGS).join(', ')
      throw invalidField(field, `is not a supported setting; supported are ${known}`)
    }
    const part = mapping(value, field, hasReranker)
    for (const path of pathsOf(part)) names.set(path, field)
    merge(patch, part)
  }
  return { patch, names }
}

/** The paths of the values in a patch. */
function pathsOf (patch: Patch): string[] {
  return Object.entries(patch).flatMap(([key, value]) => (
    isJsonObject(value) ? pathsOf(value).map((path) => `${key}.${path}`) : [key]
  ))
}

/**
 * The part of a merge patch that has an effect, without empty sections, because naming a section counts as setting it.
 * @returns undefined when it changes nothing
 */
export function exactPatch (patch: Patch, current: Patch): Patch | undefined {
  const exact: Patch = {}
  for (const [key, value] of Object.entries(patch)) {
    const currentValue = current[key]
    if (isJsonObject(value)) {
      const below = isJsonObject(currentValue) ? currentValue : {}
      const more = exactPatch(value, below)
      if (more !== undefined) exact[key] = isEmptyAfter(more, below) ? null : more
    } else if (value === null ? currentValue !== undefined : !isDeepStrictEqual(value, currentValue)) {
      exact[key] = value
    }
  }
  return Object.keys(exact).length === 0 ? undefined : exact
}

function isEmptyAfter (patch: Patch, current: Patch): boolean {
  const keys = new Set([...Object.keys(current), ...Object.keys(patch)])
  return [...keys].every((key) => patch[key] === null)
}

/** The settings in force for the bank. */
export function configOf ({ effective }: BankConfigAnswer, hasReranker: boolean): Record<string, unknown> {
  const { mission = null, retrieval } = effective
  return {
    [MISSION]: mission,
    retain_chunk_size: retrieval?.chunk_max_characters ?? null,
    retain_extraction_mode: 'chunks',
    enable_observations: false,
    enable_temporal_retrieval: true,
    enable_graph_retrieval: false,
    enable_reranking: hasReranker && retrieval?.rerank?.weight !== 0,
    disposition_skepticism: NEUTRAL,
    disposition_literalism: NEUTRAL,
    disposition_empathy: NEUTRAL,
  }
}

/** The settings of the bank itself that Hindsight has too. */
export function overridesOf ({ config: { mission, retrieval } }: BankConfigAnswer): Record<string, unknown> {
  const size = retrieval?.chunk_max_characters
  const weight = retrieval?.rerank?.weight
  return withoutUndefined({
    [MISSION]: mission,
    retain_chunk_size: size,
    enable_reranking: weight === undefined ? undefined : weight > 0,
  })
}

function merge (into: Patch, more: Patch): void {
  for (const [key, value] of Object.entries(more)) {
    const before = into[key]
    if (isJsonObject(before) && isJsonObject(value)) merge(before, value)
    else into[key] = value
  }
}

function wrongType (field: string, expected: string): ServiceError {
  return invalidField(field, `must be ${expected}`)
}
