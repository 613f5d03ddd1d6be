import { MemoryGatewayError } from '../errors.js'
import { BadInput } from './fields.js'
import type { MemoryToolError, MemoryToolResult } from './types.js'

type Refused = Extract<MemoryToolResult, { ok: false }>

/** What a model can do about a failed call. Errors of another kind are thrown, because no model can fix them. */
export function refusalOf (error: unknown, isWrite: boolean): Refused {
  if (error instanceof BadInput) return refused({ code: 'invalid_request', message: error.message }, CORRECT)
  if (!(error instanceof MemoryGatewayError)) throw error
  const { code, status, message, retryAfter, requestId, body } = error
  const fields = body?.errors?.map(({ field, message: problem }) => `${field}: ${problem}`)
  return refused({
    code,
    message: fields === undefined || fields.length === 0 ? message : fields.join('; '),
    ...(status !== undefined && { status }),
    ...(retryAfter !== undefined && { retry_after_seconds: retryAfter }),
    ...(requestId !== undefined && { request_id: requestId }),
  }, adviceOn(error, isWrite))
}

const CORRECT = 'Correct the input and call the tool again.'
const WITHOUT = 'Go on without it, and do not say that you remember.'

function adviceOn ({ status, retryAfter }: MemoryGatewayError, isWrite: boolean): string {
  if (status === 400 || status === 413 || status === 422) return CORRECT
  if (status === 401) return `The application's credentials were refused: no other call will succeed. ${WITHOUT}`
  if (status === 403) return 'This is not allowed, and will not be in this conversation. Do not try it again.'
  if (retryAfter !== undefined) return `Do not call the tool again before ${Math.ceil(retryAfter)} s have passed.`
  if (status === undefined && isWrite) return 'Whether it was done is not known. Do not say that it was.'
  return `The memory does not work at present. ${WITHOUT}`
}

function refused (error: MemoryToolError, advice: string): Refused {
  return { ok: false, text: `Failed (${error.code}): ${error.message.replace(/\.?$/, '.')} ${advice}`, error }
}
