import { ERROR_CODES, type ErrorCode } from '../lib/base/service-error.js'
import { ERROR_RESPONSES } from './error-responses.js'

const text = { type: 'string' } as const

/** The headers of responses that a client may read, as components of the document. */
export const RESPONSE_HEADERS = {
  'X-Request-Id': {
    description: 'Id of the request, as in the log: that of the request if it is valid, else a new one.',
    schema: text,
  },
  'Retry-After': {
    description: 'Seconds after which a retry can succeed, where the server knows it.',
    schema: { type: 'integer', minimum: 1 },
  },
  'WWW-Authenticate': {
    description: 'The credentials that are expected (RFC 9110), in the modes with tokens.',
    schema: text,
  },
  'Idempotent-Replayed': {
    description: '`true` where the answer is that to an earlier request with the same Idempotency-Key.',
    schema: { type: 'string', enum: ['true'] },
  },
  ETag: { description: 'The version of the configuration, for If-Match and If-None-Match.', schema: text },
  'Content-Disposition': { description: 'The name of the file that a browser saves.', schema: text },
} as const

export type ResponseHeader = keyof typeof RESPONSE_HEADERS

/** The name of the keyword by which the schema of a response names headers of its own. */
export const OWN_HEADERS = 'x-headers'

const WITH_RETRY_AFTER = new Set((Object.keys(ERROR_CODES) as ErrorCode[]).filter((code) => {
  const { status, headers } = ERROR_RESPONSES[code]
  return status === 429 || status === 503 || headers?.['retry-after'] !== undefined
}))

/** The headers of an error answer with one of these codes. */
export function errorHeaderNames (codes: readonly ErrorCode[]): ResponseHeader[] {
  return [
    ...(codes.includes('unauthenticated') ? ['WWW-Authenticate' as const] : []),
    ...(codes.some((code) => WITH_RETRY_AFTER.has(code)) ? ['Retry-After' as const] : []),
  ]
}
