import { getHeapStatistics } from 'node:v8'
import { Type, type Static } from 'typebox'
import { integer } from './schema-parts.js'
import { section, setting, withDefaults } from '../validation/defaults.js'

const MIB = 1_048_576
const GIB = 1024 * MIB

/** Bounds of one request, of one caller, and of all requests together. docs/bounds.md has the table. */
export const BoundsSchema = section({
  json_depth: setting(integer('Maximum nesting depth of objects and arrays in a JSON body.', 1, 1000), 64),
  json_values: setting(integer('Maximum number of objects, arrays, strings, numbers and other values in a JSON ' +
    'body, in total.', 1, 10_000_000), 100_000),
  array_elements: setting(integer('Maximum number of elements of an array in a JSON body, unless the API has a lower ' +
    'limit.', 1, 1_000_000), 10_000),
  batch_bytes: Type.Optional(integer('Maximum bytes of the body of a retain/batch. Default and upper limit: ' +
    'SERVICES_MAX_BODY_BYTES.', 1024, GIB)),
  import_bytes: Type.Optional(
    integer('Maximum bytes of the body of an import. Default: SERVICES_MAX_BODY_BYTES.', 1024, GIB)),
  import_lines: setting(integer('Maximum number of lines of an import, including its header.', 2, 10_000_000), 50_000),
  answer_bytes: setting(
    integer('Maximum bytes of the memories in one answer, as JSON in UTF-8; exports are not counted.', MIB, GIB),
    32 * MIB, `Default ${32 * MIB} (32 MiB).`),
  work_bytes: Type.Optional(integer('Maximum bytes of all requests and answers processed at the same time, as ' +
    'estimated by the process. Default: a quarter of the heap limit of Node.js.', 16 * MIB, 64 * GIB)),
  request_seconds: setting(integer('Maximum seconds from the first byte of a request to its last.', 1, 3600), 60),
  stalled_seconds: setting(
    integer('Seconds after which a client that reads nothing of its answer is disconnected.', 1, 3600), 60),
  read_bytes_per_second: setting(integer('Minimum rate at which a client must read its answer, on average ' +
    'over `stalled_seconds`; a slower client is disconnected.', 1, GIB), 1024),
  streams_per_caller: setting(
    integer('Maximum number of exports and event streams that one caller may have open at a time.', 1, 100_000), 16),
  requests_in_flight: setting(integer('Maximum number of requests processed at the same time.', 1, 1_000_000), 2000),
  connections: setting(
    integer('Maximum number of open connections; further ones are closed at once.', 1, 1_000_000), 10_000),
}, 'Limits on the resources that requests use: [bounds.md](bounds.md). Read only at startup.')

/** Every bound, with its value. */
export type Bounds = Required<Static<typeof BoundsSchema>>

/** @param maxBodyBytes SERVICES_MAX_BODY_BYTES */
export function boundsOf (given: Static<typeof BoundsSchema> = {}, maxBodyBytes: number): Bounds {
  const bounds = withDefaults(BoundsSchema, given)
  return {
    ...bounds,
    batch_bytes: bounds.batch_bytes ?? maxBodyBytes,
    import_bytes: bounds.import_bytes ?? maxBodyBytes,
    work_bytes: bounds.work_bytes ?? Math.max(16 * MIB, Math.floor(getHeapStatistics().heap_size_limit / 4)),
  }
}
