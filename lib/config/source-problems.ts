import { formatPath } from './paths.js'
import type { FileConfig } from './schema.js'
import { SIGNATURE_HEADER } from './source-schema.js'

/** The problems of sources that the schema of the file does not find. */
export function sourceProblems ({ sources = {} }: FileConfig): string[] {
  return Object.entries(sources).flatMap(([id, { auth }]) => {
    if (auth.type !== 'hmac' || auth.timestamp_header === undefined) return []
    const { header = SIGNATURE_HEADER, timestamp_header: timestamp } = auth
    return timestamp.toLowerCase() === header.toLowerCase()
      ? [`${formatPath(['sources', id, 'auth', 'timestamp_header'])}: is also the header of the signature, so no event ` +
        'could be accepted']
      : []
  })
}
