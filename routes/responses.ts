import { Type, type TSchema } from 'typebox'
import { ERROR_CODES, type ErrorCode } from '../lib/errors/service-error.js'

/** Codes that any route can answer with; probes are answered however busy the server is. */
export const PROBE_ERRORS = ['host_not_allowed', 'shutting_down'] as const satisfies readonly ErrorCode[]
export const ROUTE_ERRORS = [...PROBE_ERRORS, 'server_busy'] as const satisfies readonly ErrorCode[]
/** Codes that any route with a body can answer with. */
export const BODY_ERRORS = ['invalid_request', 'invalid_json', 'body_too_large', 'unsupported_media_type'] as const satisfies readonly ErrorCode[]
/** Codes that any route behind the auth mode can answer with. */
export const CALLER_ERRORS = ['invalid_request', 'unauthenticated', 'access_denied', 'misconfigured', 'internal_error', 'dependency_unavailable', 'identity_provider_unavailable', ...ROUTE_ERRORS] as const satisfies readonly ErrorCode[]
export const LIMIT_ERRORS = ['rate_limited', 'quota_exceeded'] as const satisfies readonly ErrorCode[]
/** Codes that a route can answer with whose answer grows with what is asked for. */
export const LARGE_ERRORS = ['answer_too_large'] as const satisfies readonly ErrorCode[]
export const IDEMPOTENCY_ERRORS = ['idempotency_key_reused', 'idempotency_key_in_flight'] as const satisfies readonly ErrorCode[]

/** The body of an error answer that carries one of these codes. */
export function errorSchema (codes: readonly ErrorCode[]): TSchema {
  return Type.Object({
    detail: Type.String({ description: 'For people.' }),
    code: Type.Enum([...codes], { description: 'For programs.' }),
    request_id: Type.String({ description: 'As in X-Request-Id and the log.' }),
    errors: Type.Optional(Type.Array(Type.Object({ field: Type.String(), message: Type.String() }), { description: 'What is wrong with which field.' })),
    ...(codes.includes('configuration_invalid') && { problems: Type.Optional(Type.Array(Type.String(), { description: 'What is wrong with the configuration file.' })) }),
    ...(codes.includes('restart_required') && {
      changed: Type.Optional(Type.Array(Type.String(), { description: 'Paths of the configuration file that were changed.' })),
      restart_required: Type.Optional(Type.Array(Type.String(), { description: 'Those of them that only a start reads.' })),
    }),
    retry_after_seconds: Type.Optional(Type.Integer({ description: 'As in Retry-After.' })),
  }, {
    description: codes.map((code) => `\`${code}\`: ${ERROR_CODES[code].meaning}`).join('\n'),
    examples: codes.map((code) => ({ detail: ERROR_CODES[code].meaning, code, request_id: '5f0c6f0e-7b3c-4a10-8d2f-4b1f2c3d4e5f' })),
  })
}

/**
 * The answers of a route: its own, and each error status with the codes that it can carry.
 * @param codes error codes of the route; the statuses follow from the table of codes
 */
export function answers (own: Record<number, unknown>, ...codes: ReadonlyArray<readonly ErrorCode[]>): Record<number, unknown> {
  const byStatus = new Map<number, Set<ErrorCode>>()
  for (const code of codes.flat()) {
    const { status } = ERROR_CODES[code]
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code))
  }
  const errors = [...byStatus].map(([status, found]) => [status, errorSchema([...found])] as const)
  return { ...own, ...Object.fromEntries(errors) }
}
