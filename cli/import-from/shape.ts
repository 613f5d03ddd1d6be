import { type Answer } from '../answers.js'
import { CommandError } from '../failures.js'
import { parseInstant } from '../../lib/base/clock.js'
import { DAY_MS } from '../../lib/base/days.js'
import { speakerProblem, trimSpeaker } from '../../lib/stores/speaker.js'
import { isJsonObject } from '../../lib/base/json-object.js'

/** A memory as an import accepts it, and its place in the source. Its JSON has no members that are undefined. */
export interface FoundMemory {
  place: string
  /** Without any but white space there is no memory; the import counts how often that is so. */
  text: string
  occurred_at?: string | undefined
  retained_at?: string | undefined
  expires_at?: string | undefined
  document_id?: string | undefined
  source?: string
  speaker?: string | undefined
  tags?: string[] | undefined
  metadata?: Record<string, string | number | boolean | null | undefined>
}

/** Levels of lists and objects in a document, far more than any export has. */
const MAX_DEPTH = 200

const LAST_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** A part of the source does not have the known format. */
export class UnknownShape extends CommandError {
  /** @param place for example `[3].mapping` @param expected in words @param shown the value itself, if that helps */
  constructor (place: string, expected: string, found: unknown, shown = kindOf(found)) {
    super(`${place === '' ? 'the top level' : place}: expected ${expected}, found ${shown}`)
  }
}

function kindOf (value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : isJsonObject(value) ? 'an object' : `a ${typeof value}`
}

/** Whether lists and objects are nested too deeply to be read and written by functions that call themselves. */
export function isTooDeep (document: unknown): boolean {
  let level: unknown[] = [document]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return true
    level = level.flatMap((value) => typeof value === 'object' && value !== null ? Object.values(value) : [])
  }
  return false
}

export function requireObject (value: unknown, place: string): Answer {
  if (!isJsonObject(value)) throw new UnknownShape(place, 'an object', value)
  return value
}

export function requireList (value: unknown, place: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new UnknownShape(place, 'a list', value)
  return value
}

/** The objects of a list, bare or under the first of the names that the document has, each with its place. */
export function * objectsUnder (
  names: readonly [string, ...string[]], document: unknown,
): Generator<[place: string, item: Answer]> {
  const base = isJsonObject(document) ? names.find((name) => document[name] !== undefined) ?? names[0] : ''
  const list = isJsonObject(document) ? document[base] : document
  for (const [index, item] of requireList(list, base).entries()) {
    const place = `${base}[${index}]`
    yield [place, requireObject(item, place)]
  }
}

export function requireText (value: unknown, place: string): string {
  if (typeof value !== 'string') throw new UnknownShape(place, 'a string', value)
  return value
}

/** Null counts as absent. */
export function optionalText (value: unknown, place: string): string | undefined {
  return value === undefined || value === null ? undefined : requireText(value, place)
}

/** An instant as RFC 3339; one without an offset is in UTC, as those products write it. */
export function optionalInstant (value: unknown, place: string): string | undefined {
  const text = optionalText(value, place)
  if (text === undefined || text === '') return undefined
  // Date.parse makes 1 March of 30 February.
  const [date] = /^\d{4}-\d\d-\d\d/.exec(text) ?? []
  if (date !== undefined && parseInstant(`${date}T00:00:00Z`) === undefined) {
    throw new UnknownShape(place, 'a time', value)
  }
  const withOffset = /(?:Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`
  return instant(Date.parse(withOffset), place, value)
}

/** An instant, or a date, at the end of which (UTC) a memory expires: it is valid on that day. */
export function optionalExpiry (value: unknown, place: string): string | undefined {
  const text = optionalText(value, place)
  if (text === undefined || !/^\d{4}-\d\d-\d\d$/.test(text)) return optionalInstant(value, place)
  const day = optionalInstant(text, place)!
  // 9999-12-31 means never, and the day after it has a year of five digits.
  return instant(Math.min(Date.parse(day) + DAY_MS, LAST_INSTANT), place, value)
}

/** Seconds since 1970, as ChatGPT writes times. */
export function optionalSeconds (value: unknown, place: string): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number') throw new UnknownShape(place, 'seconds since 1970', value)
  return instant(value * 1000, place, value)
}

function instant (time: number, place: string, value: unknown): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) throw new UnknownShape(place, 'a time', value)
  return date.toISOString()
}

/** An empty list counts as absent. */
export function optionalTexts (value: unknown, place: string): string[] | undefined {
  if (value === undefined || value === null) return undefined
  const texts = requireList(value, place).map((item, index) => requireText(item, `${place}[${index}]`))
  return texts.length > 0 ? texts : undefined
}

/** The members of a map as flat metadata; lists and maps in it become their JSON. */
export function flatMetadata (value: unknown, place: string): FoundMemory['metadata'] {
  if (value === undefined || value === null) return {}
  const flat: NonNullable<FoundMemory['metadata']> = {}
  for (const [key, child] of Object.entries(requireObject(value, place))) {
    flat[key] = isScalar(child) ? child : JSON.stringify(child)
  }
  return flat
}

/** The first name that can be a speaker; none where the metadata states one, which a gateway takes. */
export function speakerIn (
  names: ReadonlyArray<string | undefined>, metadata: FoundMemory['metadata'],
): string | undefined {
  if (metadata?.['speaker'] !== undefined) return undefined
  return names.find((name) => name !== undefined && speakerProblem(trimSpeaker(name)) === undefined)
}

function isScalar (value: unknown): value is string | number | boolean | null {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value)
}
