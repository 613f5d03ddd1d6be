import { printable } from './problems.js'
import { isJsonObject } from '../validation/json-object.js'
import { pointerSegments } from '../validation/json-pointer.js'

/** The place of a value in the configuration file: keys of maps and indexes of lists, from the top. */
export type Path = readonly (string | number)[]

const PLAIN_KEY = /^[A-Za-z0-9_@*:-]+$/

/** For messages: `access_grants[0].bank_id`, with keys that contain a dot or a space in `["…"]`. */
export function formatPath (path: Path): string {
  if (path.length === 0) return 'the configuration file'
  let text = ''
  for (const segment of path) {
    if (typeof segment === 'number') text += `[${segment}]`
    else if (PLAIN_KEY.test(segment)) text += `${text === '' ? '' : '.'}${printable(segment)}`
    else text += `["${printable(segment)}"]`
  }
  return text
}

/** As a JSON pointer (RFC 6901), the form of Ajv. */
export function toPointer (path: Path): string {
  return path.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** @param root the value, which shows whether a segment is an index of a list or a key of a map */
export function fromPointer (pointer: string, root: unknown): Path {
  const path: (string | number)[] = []
  let value = root
  for (const segment of pointerSegments(pointer)) {
    path.push(Array.isArray(value) ? Number(segment) : segment)
    value = isJsonObject(value) || Array.isArray(value) ? Reflect.get(value, segment) : undefined
  }
  return path
}
