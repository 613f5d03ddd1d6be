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
  'RateLimit-Policy': {
    description: 'The rate limits of the caller on the bank for this operation, as a list of structured fields ' +
      '(draft-ietf-httpapi-ratelimit-headers-10), for instance `"recall";q=100;w=60`: `q` operations or items in `w` ' +
      'seconds. Only where a limit is configured.',
    schema: text,
  },
  RateLimit: {
    description: 'What is left of each of them, for instance `"recall";r=50;t=30`: `r` operations or items until the ' +
      'limit begins anew in `t` seconds. Of several banks, it is the one with the least left.',
    schema: text,
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

export const RATE_LIMIT_HEADERS = ['RateLimit-Policy', 'RateLimit'] as const satisfies readonly ResponseHeader[]

/** The headers of an error answer with one of these codes. */
export function errorHeaderNames (codes: readonly ErrorCode[]): ResponseHeader[] {
  return [
    ...(codes.includes('rate_limited') ? RATE_LIMIT_HEADERS : []),
    ...(codes.includes('unauthenticated') ? ['WWW-Authenticate' as const] : []),
    ...(codes.some((code) => WITH_RETRY_AFTER.has(code)) ? ['Retry-After' as const] : []),
  ]
}
