import type { Static } from 'typebox'
import { integer } from './schema-parts.js'
import { section, setting, withDefaults } from '../validation/defaults.js'

const MIB = 1_048_576
const GIB = 1024 * MIB

/** Who knows why may raise the bytes of a body and of an answer up to this. */
export const MAX_BYTES = 10 * MIB

/** Bounds of one request, of one caller, and of all requests together. docs/bounds.md has the table. */
export const BoundsSchema = section({
  json_depth: setting(integer('Maximum nesting depth of objects and arrays in a JSON body.', 1, 1000), 64),
  json_values: setting(integer('Maximum number of objects, arrays, strings, numbers and other values in a JSON ' +
    'body, in total.', 1, 10_000_000), 100_000),
  array_elements: setting(integer('Maximum number of elements of an array in a JSON body, unless the API has a lower ' +
    'limit.', 1, 1_000_000), 10_000),
  batch_bytes: setting(integer('Maximum bytes of the body of a retain/batch.', 1024, MAX_BYTES), 4 * MIB,
    `Default ${4 * MIB} (4 MiB).`),
  import_bytes: setting(integer('Maximum bytes of the body of an import.', 1024, GIB), 10 * MIB,
    `Default ${10 * MIB} (10 MiB).`),
  import_lines: setting(integer('Maximum number of lines of an import, including its header.', 2, 10_000_000), 50_000),
  answer_bytes: setting(integer('Maximum bytes of one answer; exports are not counted.', 1024, MAX_BYTES), 4 * MIB,
    `Default ${4 * MIB} (4 MiB).`),
  request_seconds: setting(integer('Maximum seconds from the first byte of a request to its last.', 1, 3600), 60),
  stalled_seconds: setting(
    integer('Seconds after which a client that reads nothing of its answer is disconnected.', 1, 3600), 60),
  streams_per_caller: setting(
    integer('Maximum number of exports and event streams that one caller may have open at a time.', 1, 100_000), 16),
  requests_in_flight: setting(integer('Maximum number of requests processed at the same time.', 1, 1_000_000), 1000),
  requests_per_caller: setting(
    integer('Maximum number of requests of one caller processed at the same time.', 1, 1_000_000), 250),
  connections: setting(
    integer('Maximum number of open connections; further ones are closed at once.', 1, 1_000_000), 1000),
}, 'Limits on the resources that requests use: [bounds.md](bounds.md). Read only at startup.')

/** Every bound, with its value. */
export type Bounds = Required<Static<typeof BoundsSchema>>

export function boundsOf (given: Static<typeof BoundsSchema> = {}): Bounds {
  return withDefaults(BoundsSchema, given)
}
