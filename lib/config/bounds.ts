import { getHeapStatistics } from 'node:v8'
import { Type, type Static, type TInteger, type TOptional } from 'typebox'

const MIB = 1_048_576
const GIB = 1024 * MIB

const bound = (description: string, maximum: number, minimum = 1): TOptional<TInteger> => Type.Optional(Type.Integer({ minimum, maximum, description }))

/** What one request, one caller and all of them together may take of the process. docs/bounds.md has the table. */
export const BoundsSchema = Type.Object({
  json_depth: bound('Levels of nested objects and arrays in a JSON body. Default 64.', 1000),
  json_values: bound('Objects, arrays, texts, numbers and other values in a JSON body, all together. Default 100000.', 10_000_000),
  array_elements: bound('Elements of one array in a JSON body, where the API has no lower bound. Default 10000.', 1_000_000),
  batch_bytes: bound('Bytes of the body of a retain/batch. Default, and at most: SERVICES_MAX_BODY_BYTES.', GIB, 1024),
  import_bytes: bound('Bytes of the body of an import. Default: SERVICES_MAX_BODY_BYTES.', GIB, 1024),
  import_lines: bound('Lines of an import, its header included. Default 50000.', 10_000_000, 2),
  answer_bytes: bound('Bytes of the memories in one answer, as UTF-8; exports are not counted. Default 33554432 (32 MiB).', GIB, MIB),
  work_bytes: bound('Bytes of all requests and answers that are worked on at the same time, as they are reckoned in the process. Default: a quarter of the heap limit of Node.js.', 64 * GIB, 16 * MIB),
  spool_bytes: bound('Bytes of all exports that wait in temporary files for their readers. Default 1073741824 (1 GiB).', 1024 * GIB, MIB),
  request_seconds: bound('Seconds from the first byte of a request to its last. Default 60.', 3600),
  stalled_seconds: bound('Seconds after which a client that takes nothing of its answer is cut off. Default 60.', 3600),
  read_bytes_per_second: bound('Rate at which a client has to take its answer, on average over `stalled_seconds`; a slower one is cut off. Default 1024.', GIB),
  streams_per_caller: bound('Exports and event streams that one caller may have open at the same time. Default 16.', 100_000),
  requests_in_flight: bound('Requests that are worked on at the same time. Default 2000.', 1_000_000),
  connections: bound('Open connections; a further one is closed at once. Default 10000.', 1_000_000),
}, { additionalProperties: false, description: 'What requests may take of the process: [bounds.md](bounds.md). Only a start reads it.' })

/** Every bound, with its value. */
export type Bounds = Required<Static<typeof BoundsSchema>>

/** @param maxBodyBytes SERVICES_MAX_BODY_BYTES */
export function boundsOf (given: Static<typeof BoundsSchema> = {}, maxBodyBytes: number): Bounds {
  return {
    json_depth: 64,
    json_values: 100_000,
    array_elements: 10_000,
    import_bytes: maxBodyBytes,
    import_lines: 50_000,
    answer_bytes: 32 * MIB,
    work_bytes: Math.max(16 * MIB, Math.floor(getHeapStatistics().heap_size_limit / 4)),
    spool_bytes: GIB,
    request_seconds: 60,
    stalled_seconds: 60,
    read_bytes_per_second: 1024,
    streams_per_caller: 16,
    requests_in_flight: 2000,
    connections: 10_000,
    ...given,
    batch_bytes: Math.min(given.batch_bytes ?? maxBodyBytes, maxBodyBytes),
  }
}
