import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Type } from 'typebox'
import { checker } from '../checker.js'
import { reserveNumbers, type LoadResult, type Requests } from './load-tool.js'

const run = promisify(execFile)

const Summary = Type.Object({
  requests: Type.Integer(),
  duration_us: Type.Number(),
  p50_us: Type.Number(),
  p95_us: Type.Number(),
  p99_us: Type.Number(),
  not_2xx: Type.Integer(),
  socket_errors: Type.Integer(),
})
const checkSummary = checker(Summary, 'what the wrk script printed')

/** One wrk thread: the server has the other core. */
export async function runWrk (requests: Requests): Promise<LoadResult> {
  const folder = await mkdtemp(join(tmpdir(), 'memory-gateway-bench-'))
  try {
    const bodies = join(folder, 'bodies')
    const script = join(folder, 'script.lua')
    await writeFile(bodies, requests.bodies.join('\n'))
    await writeFile(script, luaScript(requests, bodies))
    const { stdout } = await run('wrk', [
      '--threads', '1',
      '--connections', String(requests.connections),
      '--duration', `${requests.seconds}s`,
      '--timeout', '60s',
      '--script', script,
      requests.url,
    ])
    return readSummary(stdout, requests.url)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function readSummary (output: string, url: string): LoadResult {
  const line = output.split('\n').findLast((text) => text.startsWith('{'))
  if (line === undefined) throw new Error(`wrk said for ${url}:\n${output}`)
  const summary = checkSummary(JSON.parse(line))
  if (summary.not_2xx > 0 || summary.socket_errors > 0 || summary.requests === 0) {
    throw new Error(`${url}: of ${summary.requests} answers ${summary.not_2xx} were not 2xx; ` +
      `${summary.socket_errors} connections failed`)
  }
  return {
    requests: summary.requests,
    requests_per_second: summary.requests / summary.duration_us * 1e6,
    p50_ms: summary.p50_us / 1000,
    p95_ms: summary.p95_us / 1000,
    p99_ms: summary.p99_us / 1000,
  }
}

/** wrk counts a status as an error from 400 on; the routes of this bench never redirect. */
function luaScript ({ method, bodies: { length } }: Requests, bodies: string): string {
  return `
local number = ${reserveNumbers()}
local nextEntry = 0
local entries = {}

function init ()
  wrk.method = '${method}'
  if ${length} == 0 then
    entries[1] = { whole = wrk.format() }
    return
  end
  wrk.headers['Content-Type'] = 'application/json'
  for line in io.lines(${JSON.stringify(bodies)}) do
    local tab = line:find('\\t', 1, true)
    if tab then
      entries[#entries + 1] = { head = line:sub(1, tab - 1), tail = line:sub(tab + 1) }
    else
      entries[#entries + 1] = { whole = wrk.format(nil, nil, nil, line) }
    end
  end
end

function request ()
  local entry = entries[nextEntry % #entries + 1]
  nextEntry = nextEntry + 1
  if entry.whole then return entry.whole end
  number = number + 1
  return wrk.format(nil, nil, nil, entry.head .. string.format('%d', number) .. entry.tail)
end

function done (summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"duration_us":%d,"p50_us":%d,"p95_us":%d,"p99_us":%d,"not_2xx":%d,"socket_errors":%d}\\n',
    summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(95), latency:percentile(99),
    errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
`
}
