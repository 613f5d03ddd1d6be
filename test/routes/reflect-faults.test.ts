import t, { type Test } from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { EventReader } from '../helpers/events.js'
import {
  says, startLanguageServer, UNUSED_URL, USUAL_ANSWER, type Behaviour, type LanguageRequest, type LanguageServer,
} from '../helpers/language-server.js'
import { FACT, FAULTS, KEY, QUESTION, SETTINGS, type Fault, type Outcome, type Setting } from './faults.js'
import { listening, modelStatus } from './reflecting.js'

const PROTOCOLS = { openai: 'openai_compatible', anthropic: 'anthropic' } as const
type Protocol = keyof typeof PROTOCOLS
const MODES = ['plain', 'stream'] as const
type Mode = typeof MODES[number]

/** Rows under way at a time. */
const AT_ONCE = 4
/** Half the time of a brief attempt. */
const STOOD_STILL_MS = 200

interface Gateway extends TestApp {
  url: string
}

async function gateway (
  t: Test, protocol: Protocol, baseUrl: string, settings: Record<string, unknown>,
  escalation: NonNullable<FileConfig['escalation']>,
): Promise<Gateway> {
  const app = await testApp(t, {
    file: {
      llm_provider: PROTOCOLS[protocol],
      llm_provider_config: { base_url: baseUrl, model: 'remote', api_key: KEY, ...settings },
      reflect: { timeout_ms: 20_000, min_score: 0 },
      escalation,
    },
  })
  await app.retain('bank', FACT)
  return { ...app, url: await listening(app) }
}

/** What a request was met with. */
interface Met {
  status: number
  /** The body, or the last event's. */
  body: Record<string, unknown>
  /** Names of the events; empty for a plain answer. */
  events: string[]
  retryAfter: string | undefined
  elapsedMs: number
  /** Of these, milliseconds in which this process did not run. */
  lostMs: number
}

async function ask (
  t: Test, { post, url }: Gateway, mode: Mode, id: string, more: Record<string, unknown> = {},
): Promise<Met> {
  const request = { bank_id: 'bank', query: `${QUESTION} ${id}`, ...more }
  const headers = { 'x-request-id': id }
  const lost = lostTime()
  const startedAt = performance.now()
  const times = () => ({ elapsedMs: performance.now() - startedAt, lostMs: lost() })
  if (mode === 'plain') {
    const response = await post('/v1/reflect', request, headers)
    return {
      status: response.statusCode,
      body: response.json<Record<string, unknown>>(),
      events: [],
      retryAfter: response.headers['retry-after'] as string | undefined,
      ...times(),
    }
  }
  const reader = await EventReader.open(t, url, request, headers)
  const events = await reader.all()
  return {
    status: reader.status,
    body: events.at(-1)?.data as Record<string, unknown>,
    events: events.map(({ event }) => event),
    retryAfter: undefined,
    ...times(),
  }
}

/**
 * Whether the model was asked as often as the fault says; less often only where the process stood still for much of an
 * attempt's time.
 */
function askedAsOften (times: number, { asked }: Fault, { lostMs }: Met): boolean {
  return times === asked || (times < asked && lostMs > STOOD_STILL_MS)
}

function timesOf ({ elapsedMs, lostMs }: Met, { withinMs }: Fault): string {
  const milliseconds = (count: number) => String(Math.round(count)).padStart(4)
  return `${milliseconds(elapsedMs)} ms of ${milliseconds(withinMs)} + ${milliseconds(lostMs)}`
}

/** Milliseconds in which this process was to run and did not, as on a busy machine; asking for them ends the count. */
function lostTime (): () => number {
  const STEP = 10
  let lost = 0
  let last = performance.now()
  const count = () => {
    const now = performance.now()
    lost += Math.max(0, now - last - STEP)
    last = now
  }
  const ticker = setInterval(count, STEP)
  return () => {
    clearInterval(ticker)
    count()
    return lost
  }
}

/** Lines of one request, once its last is there. */
async function linesOf ({ log }: Gateway, id: string): Promise<Array<Record<string, unknown>>> {
  const lines = () => log.filter((line) => line['request_id'] === id)
  while (!lines().some(({ msg }) => msg === 'request completed')) {
    await new Promise((resolve) => { setImmediate(resolve) })
  }
  return lines()
}

/** The message of a logged error, and those beneath it. */
function messages (error: unknown): string {
  if (typeof error !== 'object' || error === null) return ''
  const { message, cause } = error as { message?: unknown, cause?: unknown }
  return `${String(message)}\n${messages(cause)}`.trim()
}

/** Why a request failed: a failed call says it in the line itself, another fault in its error. */
function reasonOf (line: Record<string, unknown> | undefined): string {
  return /^request failed: (.*)$/s.exec(String(line?.['msg']))?.[1] ?? messages(line?.['err'])
}

/** Does with each request what its row says, by the id that the question contains. */
function dispatch (server: LanguageServer, scripts: ReadonlyMap<string, Behaviour[]>): (id: string) => number {
  const asked = new Map<string, number>()
  const idOf = ({ user }: LanguageRequest) => / (row-\d+)"\n/.exec(user)?.[1] ?? ''
  server.always(async (request, response) => {
    const id = idOf(request)
    const before = asked.get(id) ?? 0
    asked.set(id, before + 1)
    const script = scripts.get(id) ?? []
    await (script[before] ?? script.at(-1) ?? says(USUAL_ANSWER))(request, response)
  })
  return (id) => asked.get(id) ?? 0
}

async function inTurns<T> (items: readonly T[], width: number, work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items]
  await Promise.all(Array.from({ length: width }, async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
  }))
}

interface Row {
  id: string
  fault: Fault
  protocol: Protocol
  mode: Mode
}

let rowCount = 0
const rowsOf = (faults: readonly Fault[]): Row[] => faults.flatMap(
  (fault) => (Object.keys(PROTOCOLS) as Protocol[]).flatMap((protocol) => (
    MODES.map((mode) => ({ id: `row-${++rowCount}`, fault, protocol, mode }))
  )),
)

function table (t: Test, rows: ReadonlyArray<readonly [row: Row, line: string]>): void {
  for (const [{ fault, protocol, mode }, line] of [...rows].sort(
    ([a], [b]) => Number(a.id.slice(4)) - Number(b.id.slice(4)),
  )) {
    t.comment(`${fault.name.padEnd(52)} ${protocol.padEnd(9)} ${mode.padEnd(6)} ${line}`)
  }
}

function tellsNothing (t: Test, gateways: Iterable<Gateway>): void {
  for (const { log } of gateways) {
    const whole = JSON.stringify(log)
    for (const secret of [KEY, KEY.slice(3), QUESTION, FACT, 'blue door', 'which town']) {
      t.notOk(whole.includes(secret), `no line holds ${secret}`)
    }
  }
}

const NEVER_OPEN = { circuit_breaker: { failure_threshold: 1000 } }

/** A gateway for each setting and protocol. */
async function gateways (
  t: Test, server: LanguageServer, escalation: NonNullable<FileConfig['escalation']>,
): Promise<Map<string, Gateway>> {
  const made = new Map<string, Gateway>()
  const nowhere = UNUSED_URL
  for (const setting of Object.keys(SETTINGS) as Setting[]) {
    for (const protocol of Object.keys(PROTOCOLS) as Protocol[]) {
      made.set(
        `${setting} ${protocol}`,
        await gateway(t, protocol, setting === 'refused' ? nowhere : server.url, SETTINGS[setting], escalation),
      )
    }
  }
  return made
}

t.test('every fault of a language model has one outcome, in time, and one line in the log', async (t) => {
  const server = await startLanguageServer(t)
  const apps = await gateways(t, server, NEVER_OPEN)
  const rows = rowsOf(FAULTS)
  const askedOf = dispatch(server, new Map(rows.map(({ id, fault }) => [id, fault.script])))
  const told: Array<readonly [Row, string]> = []
  const check = async (row: Row) => {
    const { id, fault, protocol, mode } = row
    const app = apps.get(`${fault.setting} ${protocol}`)!
    const expected: Outcome = mode === 'stream' ? fault.stream ?? fault.plain : fault.plain
    const met = await ask(t, app, mode, id, fault.more)
    const lines = await linesOf(app, id)
    const faults = lines.filter(({ level }) => Number(level) >= 40)
    const about = `${fault.name}, ${protocol}, ${mode}`
    told.push([
      row,
      `${met.status} ${String(met.body['code'] ?? 'answered').padEnd(22)} ${timesOf(met, fault)}  ` +
        `${faults.map((line) => `${line['msg']}: ${reasonOf(line).replaceAll('\n', ' < ')}`).join('; ') || '-'}`,
    ])

    if (mode === 'plain') t.equal(met.status, expected.status, about)
    else {
      t.equal(met.status, 200, `${about}: the evidence was there before`)
      const last = expected.code === undefined ? ['usage', 'done'] : ['error']
      const hasDelta = expected.code === undefined || expected.begun === true
      t.same(
        met.events.filter((event, index) => event !== 'delta' || met.events.indexOf(event) === index),
        ['evidence', ...(hasDelta ? ['delta'] : []), ...last], about,
      )
    }
    t.equal(met.body['code'], expected.code, about)
    if (expected.code === undefined) t.match(met.body, { answer: USUAL_ANSWER, abstained: false }, about)
    else {
      t.same(
        Object.keys(met.body).sort(),
        [
          'code', 'detail', 'request_id', ...(expected.retryAfterSeconds === undefined ? [] : ['retry_after_seconds']),
        ].sort(),
        about,
      )
    }
    t.equal(met.body['retry_after_seconds'], expected.retryAfterSeconds, about)
    if (mode === 'plain') t.equal(met.retryAfter, expected.retryAfterSeconds?.toString(), about)
    t.ok(askedAsOften(askedOf(id), fault, met), `${about}: the model was asked ${askedOf(id)} times of ${fault.asked}`)
    t.ok(met.elapsedMs < fault.withinMs + met.lostMs, `${about}: ${timesOf(met, fault)}`)
    t.same(
      faults.map(({ level, msg, code }) => ({ level, msg: String(msg).split(':')[0], code })),
      expected.code === undefined ? [] : [{ level: 50, msg: 'request failed', code: expected.code }], about,
    )
    if (expected.reason !== undefined) t.match(reasonOf(faults[0]), expected.reason, about)
    t.match(lines.filter(({ msg }) => msg === 'request completed'), [{ level: 30, status: met.status }], about)
  }
  await inTurns(rows.filter(({ fault }) => fault.alone !== true), AT_ONCE, check)
  await inTurns(rows.filter(({ fault }) => fault.alone === true), 1, check)
  table(t, told)
  for (const app of apps.values()) {
    t.same(
      app.log.filter(({ level, request_id: id }) => Number(level) >= 40 && id === undefined), [],
      'nothing else is logged',
    )
  }
  tellsNothing(t, apps.values())
})

t.test('in the extractive mode the memories answer for the model, with a warning', async (t) => {
  const server = await startLanguageServer(t)
  const apps = await gateways(t, server, { ...NEVER_OPEN, degraded_mode: 'extractive' })
  const rows = rowsOf(FAULTS.filter(({ extractive }) => extractive !== undefined))
  const askedOf = dispatch(server, new Map(rows.map(({ id, fault }) => [id, fault.script])))
  const told: Array<readonly [Row, string]> = []
  // A warning names no request, so each gateway has one at a time.
  await inTurns([...apps.keys()], apps.size, async (key) => {
    const app = apps.get(key)!
    for (const row of rows.filter(({ fault, protocol }) => `${fault.setting} ${protocol}` === key)) {
      const { id, fault, protocol, mode } = row
      const seen = app.log.length
      const met = await ask(t, app, mode, id, fault.more)
      await linesOf(app, id)
      const noted = app.log.slice(seen).filter(({ level }) => Number(level) >= 40)
      const about = `${fault.name}, ${protocol}, ${mode}`
      told.push([
        row,
        `${met.status} ${String(met.body['code'] ?? met.body['degraded'] ?? 'answered').padEnd(22)} ` +
          `${timesOf(met, fault)}  ${noted.map(({ msg }) => String(msg)).join('; ')}`,
      ])
      const { reason } = mode === 'stream' ? fault.stream ?? fault.plain : fault.plain
      t.equal(met.status, 200, about)
      t.ok(
        askedAsOften(askedOf(id), fault, met), `${about}: the model was asked ${askedOf(id)} times of ${fault.asked}`,
      )
      t.ok(met.elapsedMs < fault.withinMs + met.lostMs, `${about}: ${timesOf(met, fault)}`)
      t.equal(noted.length, 1, about)
      if (fault.extractive![mode] === 'error') {
        t.match(met.body, { code: 'dependency_unavailable' }, `${about}: text that was sent cannot be withdrawn`)
        t.match(noted, [{ level: 50, msg: /^request failed: The language model / }], about)
        continue
      }
      t.match(met.body, { answer: `"${FACT}" [1]`, abstained: false, degraded: ['model'] }, about)
      if (mode === 'stream') t.same(met.events, ['evidence', 'delta', 'usage', 'done'], about)
      t.match(
        noted[0], { level: 40, msg: /^reflect answers without the language model, from the sentences of memories: / },
        about,
      )
      t.match(noted[0]?.['msg'], reason, about)
    }
  })
  table(t, told)
  tellsNothing(t, apps.values())
})

for (const protocol of Object.keys(PROTOCOLS) as Protocol[]) {
  t.test(`after consecutive faults the model is not called until it is tried again, ${protocol}`, async (t) => {
    const server = await startLanguageServer(t)
    const app = await gateway(t, protocol, server.url, SETTINGS.single, {
      circuit_breaker: { failure_threshold: 3, recovery_timeout_seconds: 2 },
    })
    const [failing] = FAULTS.filter(({ name }) => name === '500 every time').map(({ script }) => script[0]!)
    server.always(failing!)
    for (const [index, mode] of (['plain', 'stream', 'plain'] as const).entries()) {
      t.match((await ask(t, app, mode, `fault-${index}`)).body, { code: 'dependency_unavailable' })
    }
    t.equal(server.requests.length, 3)
    t.equal(modelStatus(app).breaker?.state, 'open')

    for (const mode of MODES) {
      const refused = await ask(t, app, mode, `refused-${mode}`)
      t.match(refused.body, { code: 'dependency_unavailable', retry_after_seconds: Number })
      const seconds = Number(refused.body['retry_after_seconds'])
      t.ok(seconds >= 1 && seconds <= 2)
      if (mode === 'plain') t.match(refused, { status: 503, retryAfter: String(seconds) })
      t.ok(refused.elapsedMs < 250 + refused.lostMs)
      const [line] = (await linesOf(app, `refused-${mode}`)).filter(({ level }) => Number(level) >= 40)
      t.match(line, { level: 50, msg: /^request failed: /, code: 'dependency_unavailable', err: undefined })
      t.match(reasonOf(line), /failed 3 times in a row and is not asked for a while/)
    }
    t.equal(server.requests.length, 3, 'the model was not called')

    server.always(says(USUAL_ANSWER))
    while (modelStatus(app).breaker?.state !== 'half_open') await new Promise((resolve) => { setTimeout(resolve, 20) })
    for (const mode of MODES) t.match((await ask(t, app, mode, `answered-${mode}`)).body, { answer: USUAL_ANSWER })
    t.equal(server.requests.length, 5)
    t.equal(modelStatus(app).breaker?.state, 'closed')
    tellsNothing(t, [app])
  })
}
