import { getHeapStatistics } from 'node:v8'
import { Type, type Static } from 'typebox'
import { withDefaults } from './defaults.js'
import { integer, section, setting } from './schema-parts.js'

const MIB = 1_048_576
const GIB = 1024 * MIB

/** Bounds of one request, of one caller, and of all requests together. docs/bounds.md has the table. */
export const BoundsSchema = section({
  json_depth: setting(integer('Levels of nested objects and arrays in a JSON body.', 1, 1000), 64),
  json_values: setting(
    integer('Objects, arrays, texts, numbers and other values in a JSON body, all together.', 1, 10_000_000), 100_000),
  array_elements: setting(
    integer('Elements of one array in a JSON body, where the API has no lower bound.', 1, 1_000_000), 10_000),
  batch_bytes: Type.Optional(
    integer('Bytes of the body of a retain/batch. Default, and at most: SERVICES_MAX_BODY_BYTES.', 1024, GIB)),
  import_bytes: Type.Optional(
    integer('Bytes of the body of an import. Default: SERVICES_MAX_BODY_BYTES.', 1024, GIB)),
  import_lines: setting(integer('Lines of an import, its header included.', 2, 10_000_000), 50_000),
  answer_bytes: setting(
    integer('Bytes of the memories in one answer, as UTF-8; exports are not counted.', MIB, GIB),
    32 * MIB, `Default ${32 * MIB} (32 MiB).`),
  work_bytes: Type.Optional(integer('Bytes of all requests and answers that are worked on at the same time, as they ' +
    'are reckoned in the process. Default: a quarter of the heap limit of Node.js.', 16 * MIB, 64 * GIB)),
  spool_bytes: setting(
    integer('Bytes of all exports that wait in temporary files for their readers.', MIB, 1024 * GIB),
    GIB, `Default ${GIB} (1 GiB).`),
  request_seconds: setting(integer('Seconds from the first byte of a request to its last.', 1, 3600), 60),
  stalled_seconds: setting(
    integer('Seconds after which a client that takes nothing of its answer is cut off.', 1, 3600), 60),
  read_bytes_per_second: setting(integer('Rate at which a client has to take its answer, on average over ' +
    '`stalled_seconds`; a slower one is cut off.', 1, GIB), 1024),
  streams_per_caller: setting(
    integer('Exports and event streams that one caller may have open at the same time.', 1, 100_000), 16),
  requests_in_flight: setting(integer('Requests that are worked on at the same time.', 1, 1_000_000), 2000),
  connections: setting(integer('Open connections; a further one is closed at once.', 1, 1_000_000), 10_000),
}, 'What requests may take of the process: [bounds.md](bounds.md). Only a start reads it.')

/** Every bound, with its value. */
export type Bounds = Required<Static<typeof BoundsSchema>>

/** @param maxBodyBytes SERVICES_MAX_BODY_BYTES */
export function boundsOf (given: Static<typeof BoundsSchema> = {}, maxBodyBytes: number): Bounds {
  const bounds = withDefaults(BoundsSchema, given)
  return {
    ...bounds,
    batch_bytes: Math.min(bounds.batch_bytes ?? maxBodyBytes, maxBodyBytes),
    import_bytes: bounds.import_bytes ?? maxBodyBytes,
    work_bytes: bounds.work_bytes ?? Math.max(16 * MIB, Math.floor(getHeapStatistics().heap_size_limit / 4)),
  }
}
