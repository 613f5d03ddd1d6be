import type { LightMyRequestResponse } from 'fastify'
import { ERROR_RESPONSES } from '../../http/error-responses.js'
import type { ErrorCode } from '../../lib/base/service-error.js'

const MEMBERS = ['detail', 'code', 'request_id', 'errors', 'retry_after_seconds', 'pii_types', 'hold_ids']
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The violation of the contract by an answer; undefined when there is none. */
export function faultOf (
  response: LightMyRequestResponse, sent: { method: string, headers: Record<string, string> },
): string | undefined {
  const { statusCode: status, headers, body } = response
  if (status >= 500) return `status ${status}: ${body}`
  const id = headers['x-request-id']
  const given = sent.headers['x-request-id']
  if (typeof id !== 'string') return `${status} without X-Request-Id`
  if (given !== undefined && REQUEST_ID.test(given) ? id !== given : !UUID.test(id)) {
    return `X-Request-Id ${id} for ${given}`
  }
  if (status < 400) {
    return String(headers['content-type']).startsWith('application/json') && sent.method !== 'HEAD' && !isJson(body)
      ? `${status} with a body that is no JSON: ${body}`
      : undefined
  }
  if (!String(headers['content-type']).startsWith('application/json')) return `${status} as ${headers['content-type']}`
  // Node.js sends no body for HEAD, which an injected request does not show.
  if (sent.method === 'HEAD') return undefined
  return faultOfError(status, headers, body, id)
}

function faultOfError (
  status: number, headers: LightMyRequestResponse['headers'], body: string, id: string,
): string | undefined {
  if (!isJson(body)) return `${status} with a body that is no JSON: ${body}`
  const error = JSON.parse(body) as Record<string, unknown>
  const { detail, code, request_id: requestId, errors } = error
  if (typeof detail !== 'string' || detail === '') return `${status} without detail: ${body}`
  if (typeof code !== 'string' || !Object.hasOwn(ERROR_RESPONSES, code)) {
    return `${status} with the unknown code ${String(code)}`
  }
  if (ERROR_RESPONSES[code as ErrorCode].status !== status) return `${status} with the code ${code}`
  if (requestId !== id) return `request_id ${String(requestId)} and X-Request-Id ${id}`
  const strangers = Object.keys(error).filter((name) => !MEMBERS.includes(name))
  if (strangers.length > 0) return `unknown members ${strangers.join()}`
  if (errors !== undefined && !isFieldErrors(errors)) return `errors ${JSON.stringify(errors)}`
  if (/\bat .*\.(?:js|ts):\d+|node_modules/.test(body)) return `a stack: ${body}`
  if (status === 405 && headers.allow === undefined) return '405 without Allow'
  if (status === 429 && (headers['retry-after'] === undefined || error['retry_after_seconds'] === undefined)) {
    return '429 without Retry-After'
  }
  return undefined
}

function isJson (text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function isFieldErrors (errors: unknown): boolean {
  return Array.isArray(errors) && errors.length > 0 && errors.every((entry: Record<string, unknown>) =>
    (
      typeof entry['field'] === 'string' && typeof entry['message'] === 'string' && entry['message'] !== '' &&
        Object.keys(entry).length === 2
    ))
}
