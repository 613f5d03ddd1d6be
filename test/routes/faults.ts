import {
  after, answering, cutInTheMiddle, endless, endsEarly, failsInTheMiddle, garbage, hangUp, says, silent,
  stallInTheMiddle, USUAL_ANSWER,
  type Behaviour,
} from '../helpers/language-server.js'

/** Texts that no log line and no error may contain. */
export const KEY = 'sk-key-of-the-model'
export const FACT = 'Alice lives in the town of Lyon, behind the blue door.'
export const QUESTION = 'In which town does Alice live, behind which blue door?'

/**
 * How the gateway is configured:
 * - `brief`: an attempt has 400 ms and is the only one
 * - `single`: an attempt has 10 s and is the only one
 * - `patient`: an attempt has 10 s, and there is a second one
 * - `refused`: as single, with no listener at the model's address
 */
export type Setting = 'brief' | 'single' | 'patient' | 'refused'

export const SETTINGS: Readonly<Record<Setting, Record<string, unknown>>> = {
  brief: { timeout_ms: 400, max_retries: 0 },
  single: { timeout_ms: 10_000, max_retries: 0 },
  patient: { timeout_ms: 10_000, max_retries: 1 },
  refused: { timeout_ms: 10_000, max_retries: 0 },
}

export interface Outcome {
  status: number
  code?: string
  /** What the log says of it; absent when it is no fault. */
  reason?: RegExp
  retryAfterSeconds?: number
  /** Whether a stream has told something before. Default false. */
  begun?: boolean
}

export interface Fault {
  name: string
  setting: Setting
  /** What the model does with one request after the other; the last again and again. */
  script: Behaviour[]
  /** Further fields of the request. */
  more?: Record<string, unknown>
  plain: Outcome
  /** Default: as plain, as an event. */
  stream?: Outcome
  /** How often the model is asked. */
  asked: number
  /** Milliseconds in which it has to be told, beside the time in which this process did not run. */
  withinMs: number
  /** Whether no other request may be under way. */
  alone?: true
  /**
   * What happens instead in the extractive mode: `sentences` by default; `error` when a stream has told something
   * already. Absent: not tried.
   */
  extractive?: { plain: 'sentences', stream: 'sentences' | 'error' }
}

const ok: Outcome = { status: 200 }
const down = (
  reason: RegExp, more: Partial<Outcome> = {},
): Outcome => ({ status: 503, code: 'dependency_unavailable', reason, ...more })
const late = (reason: RegExp): Outcome => ({ status: 503, code: 'deadline_exceeded', reason })
const unusable = (
  reason: RegExp, more: Partial<Outcome> = {},
): Outcome => ({ status: 502, code: 'model_output_invalid', reason, ...more })

/** The longest pause before a second attempt. */
const PAUSE_MS = 250
/** What the work takes beside all waiting. */
const WORK_MS = 250
const ATTEMPT_MS = 400
const TIMEOUT_MS = 500
/** A complete sentence, and the beginning of another. */
const PIECES = ['Alice lives in Lyon. [1] ', 'She ']
const refusal = (status: number, code: string, headers: Record<string, string> = {}) => (
  answering(
    status, JSON.stringify({ error: { type: code, code, message: `Not with ${KEY}: ${FACT} ${QUESTION}` } }), headers,
  )
)
const BOTH = { plain: 'sentences', stream: 'sentences' } as const
const BEGUN = { plain: 'sentences', stream: 'error' } as const
const SOMETHING_ELSE = /answered with something else than an answer of a language model/
/**
 * The model's call has a little less time than the request. When the event loop is late, both are over in one turn of
 * it, and either ends the request, with the same answer.
 */
const OUT_OF_TIME = new RegExp(`did not answer within \\d+ ms|Not done within ${TIMEOUT_MS} ms`)
const BROKE_OFF = /broke off its answer/

export const FAULTS: readonly Fault[] = [
  { name: 'none', setting: 'patient', script: [says(USUAL_ANSWER)], plain: ok, asked: 1, withinMs: WORK_MS },
  {
    name: 'slow, but in time',
    setting: 'patient',
    script: [after(80, says(USUAL_ANSWER))],
    plain: ok,
    asked: 1,
    withinMs: WORK_MS + 80,
  },
  {
    name: 'slower than the request may take',
    setting: 'patient',
    script: [after(3000, says(USUAL_ANSWER))],
    more: { timeout_ms: TIMEOUT_MS },
    plain: late(OUT_OF_TIME),
    asked: 1,
    withinMs: TIMEOUT_MS + WORK_MS,
    extractive: BOTH,
  },
  {
    name: 'slower than an attempt may take',
    setting: 'brief',
    script: [after(3000, says(USUAL_ANSWER))],
    plain: down(/did not answer within 400 ms/),
    asked: 1,
    withinMs: ATTEMPT_MS + WORK_MS,
  },
  {
    name: 'never an answer',
    setting: 'brief',
    script: [silent],
    plain: down(/did not answer within 400 ms/),
    asked: 1,
    withinMs: ATTEMPT_MS + WORK_MS,
    extractive: BOTH,
  },
  {
    name: 'never an answer, and the request may not take long',
    setting: 'patient',
    script: [silent],
    more: { timeout_ms: TIMEOUT_MS },
    plain: late(OUT_OF_TIME),
    asked: 1,
    withinMs: TIMEOUT_MS + WORK_MS,
  },
  {
    name: 'cut off in the middle',
    setting: 'single',
    script: [cutInTheMiddle(...PIECES)],
    plain: down(BROKE_OFF),
    stream: down(BROKE_OFF, { begun: true }),
    asked: 1,
    withinMs: WORK_MS,
    extractive: BEGUN,
  },
  {
    name: 'stalled in the middle',
    setting: 'brief',
    script: [stallInTheMiddle(...PIECES)],
    plain: down(/did not answer within 400 ms/),
    stream: down(/did not answer within 400 ms/, { begun: true }),
    asked: 1,
    withinMs: ATTEMPT_MS + WORK_MS,
    extractive: BEGUN,
  },
  {
    name: 'ended early',
    setting: 'single',
    script: [endsEarly(...PIECES)],
    plain: unusable(SOMETHING_ELSE),
    stream: down(BROKE_OFF, { begun: true }),
    asked: 1,
    withinMs: WORK_MS,
  },
  {
    name: 'an error in the middle',
    setting: 'single',
    script: [failsInTheMiddle('overloaded_error', ...PIECES)],
    plain: down(/answered 500 \(overloaded_error\)/),
    stream: down(/ended its answer with an error \(overloaded_error\)/, { begun: true }),
    asked: 1,
    withinMs: WORK_MS,
  },
  {
    name: 'a page of HTML',
    setting: 'single',
    script: [garbage('html')],
    plain: unusable(SOMETHING_ELSE),
    asked: 1,
    withinMs: WORK_MS,
    extractive: BOTH,
  },
  {
    name: 'JSON of something else',
    setting: 'single',
    script: [garbage('json')],
    plain: unusable(SOMETHING_ELSE),
    asked: 1,
    withinMs: WORK_MS,
  },
  {
    name: 'broken JSON',
    setting: 'single',
    script: [garbage('broken')],
    plain: unusable(SOMETHING_ELSE),
    asked: 1,
    withinMs: WORK_MS,
  },
  // Its bytes have to be read up to the bound, which takes a while and blocks everything else in this process.
  {
    name: 'an answer without an end',
    setting: 'patient',
    script: [endless],
    more: { max_tokens: 8 },
    alone: true,
    plain: unusable(/answered with more than \d+ bytes/),
    stream: unusable(/answered with more than \d+ bytes/, { begun: true }),
    asked: 1,
    withinMs: 2000 + WORK_MS,
  },
  {
    name: 'no text',
    setting: 'single',
    script: [says('')],
    plain: unusable(/answered without a text$/),
    asked: 1,
    withinMs: WORK_MS,
    extractive: BOTH,
  },
  {
    name: 'no text, for its thoughts took all tokens',
    setting: 'single',
    script: [says('', { finish: 'length', reasoning: 'Well …' })],
    plain: unusable(/answered without a text: it used up its tokens before/),
    asked: 1,
    withinMs: WORK_MS,
  },
  {
    name: 'an answer that its filter cut',
    setting: 'single',
    script: [says('Alice lives', { finish: 'filtered' })],
    plain: unusable(/filter blocked the answer/),
    asked: 1,
    withinMs: WORK_MS,
  },
  {
    name: 'an answer that its filter took whole',
    setting: 'single',
    script: [says('', { finish: 'filtered' })],
    plain: unusable(/filter blocked the answer/),
    asked: 1,
    withinMs: WORK_MS,
  },
  {
    name: '429 for a moment',
    setting: 'patient',
    script: [refusal(429, 'rate_limit_error', { 'retry-after': '0' }), says(USUAL_ANSWER)],
    plain: ok,
    asked: 2,
    withinMs: PAUSE_MS + WORK_MS,
  },
  {
    name: '429 for two minutes',
    setting: 'patient',
    script: [refusal(429, 'rate_limit_error', { 'retry-after': '120' })],
    plain: down(/answered 429 \(rate_limit_error\)/, { retryAfterSeconds: 120 }),
    asked: 1,
    withinMs: WORK_MS,
    extractive: BOTH,
  },
  {
    name: '429 for longer than the request may take',
    setting: 'patient',
    script: [refusal(429, 'rate_limit_error', { 'retry-after': '5' })],
    more: { timeout_ms: 4000 },
    plain: down(/answered 429 \(rate_limit_error\)/, { retryAfterSeconds: 5 }),
    asked: 1,
    withinMs: WORK_MS,
  },
  {
    name: '500 once',
    setting: 'patient',
    script: [refusal(500, 'server_error'), says(USUAL_ANSWER)],
    plain: ok,
    asked: 2,
    withinMs: PAUSE_MS + WORK_MS,
  },
  {
    name: '500 every time',
    setting: 'patient',
    script: [refusal(500, 'server_error')],
    plain: down(/answered 500 \(server_error\)/),
    asked: 2,
    withinMs: PAUSE_MS + WORK_MS,
    extractive: BOTH,
  },
  {
    name: '401',
    setting: 'patient',
    script: [refusal(401, 'invalid_api_key')],
    plain: down(/answered 401 \(invalid_api_key\)/),
    asked: 1,
    withinMs: WORK_MS,
    extractive: BOTH,
  },
  {
    name: '404, no such model',
    setting: 'patient',
    script: [refusal(404, 'model_not_found')],
    plain: down(/answered 404 \(model_not_found\)/),
    asked: 1,
    withinMs: WORK_MS,
  },
  {
    name: '400',
    setting: 'patient',
    script: [refusal(400, 'invalid_request_error')],
    plain: down(/answered 400 \(invalid_request_error\)/),
    asked: 1,
    withinMs: WORK_MS,
  },
  {
    name: 'a connection that is closed',
    setting: 'single',
    script: [hangUp],
    plain: down(/cannot be reached \(UND_ERR_SOCKET\)/),
    asked: 1,
    withinMs: WORK_MS,
  },
  {
    name: 'a connection that is closed once',
    setting: 'patient',
    script: [hangUp, says(USUAL_ANSWER)],
    plain: ok,
    asked: 2,
    withinMs: PAUSE_MS + WORK_MS,
  },
  {
    name: 'a connection that is refused',
    setting: 'refused',
    script: [],
    plain: down(/cannot be reached \(ECONNREFUSED\)/),
    asked: 0,
    withinMs: WORK_MS,
    extractive: BOTH,
  },
]
