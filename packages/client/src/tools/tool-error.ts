import { MemoryGatewayError } from '../errors.js'
import { InvalidInput } from './fields.js'
import type { MemoryToolError, MemoryToolResult } from './types.js'

type FailedResult = Extract<MemoryToolResult, { ok: false }>

/** The result of a failed call, with advice for the model. Rethrows other errors, which no model can correct. */
export function toolErrorOf (error: unknown, isWrite: boolean): FailedResult {
  if (error instanceof InvalidInput) {
    return failedResult({ code: 'invalid_request', message: error.message }, CORRECT_INPUT)
  }
  if (!(error instanceof MemoryGatewayError)) throw error
  const { code, status, message, retryAfter, requestId, body } = error
  const fields = body?.errors?.map(({ field, message: problem }) => `${field}: ${problem}`)
  return failedResult({
    code,
    message: fields === undefined || fields.length === 0 ? message : fields.join('; '),
    ...(status !== undefined && { status }),
    ...(retryAfter !== undefined && { retry_after_seconds: retryAfter }),
    ...(requestId !== undefined && { request_id: requestId }),
  }, adviceOn(error, isWrite))
}

const CORRECT_INPUT = 'Correct the input and call the tool again.'
const CONTINUE_WITHOUT = 'Continue without it, and do not claim to remember.'

function adviceOn ({ code, status, retryAfter }: MemoryGatewayError, isWrite: boolean): string {
  if (status === 400 || status === 413 || status === 422) return CORRECT_INPUT
  if (status === 401) {
    return `The application's credentials were refused: no other call will succeed. ${CONTINUE_WITHOUT}`
  }
  if (status === 403) return 'This is not allowed, and will not be allowed in this conversation. Do not try it again.'
  if (retryAfter !== undefined) return `Do not call the tool again before ${Math.ceil(retryAfter)} s have passed.`
  // When the store fails during a write, the commit may have been made and only its answer lost.
  const mayBeDone = status === undefined || (status === 503 && code === 'dependency_unavailable')
  if (mayBeDone && isWrite) return 'It is unknown whether it was done. Do not claim that it was.'
  return `The memory is currently unavailable. ${CONTINUE_WITHOUT}`
}

function failedResult (error: MemoryToolError, advice: string): FailedResult {
  return { ok: false, text: `Failed (${error.code}): ${error.message.replace(/\.?$/, '.')} ${advice}`, error }
}
