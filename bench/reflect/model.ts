import { createServer, type ServerResponse } from 'node:http'
import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'

/*
 * The scripted model, in a process of its own: it serves chat completions of the OpenAI API, takes the configured time
 * and always returns the same answer, in a stream spread over that time. Beside the API it has `PUT /delay?ms=` and
 * `GET /report`.
 */

/** Four sentences with citations, in 40 pieces, because the gateway processes a stream sentence by sentence. */
const PIECES = Array.from({ length: 4 }, (_, sentence) => [
  ...['It ', 'is ', 'told ', 'there ', 'that ', 'this ', 'was ', 'so ', 'then. '],
  `[${sentence % 2 + 1}] `,
]).flat()
const ANSWER = PIECES.join('')
const USAGE = { prompt_tokens: 900, completion_tokens: 60, total_tokens: 960 }

let delayMs = 0
let calls = 0
let concurrentCalls = 0
let maxConcurrentCalls = 0
let ownMs: number[] = []
let lastBody = '{}'

const server = createServer(
  (request, response) => {
    void serve(
      request.method ?? '', new URL(request.url ?? '', 'http://model'), request, response,
    )
  },
)
server.keepAliveTimeout = 60_000
server.listen(Number(process.env['PORT']), '127.0.0.1')

async function serve (
  method: string, url: URL, request: AsyncIterable<Buffer>, response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const route = `${method} ${url.pathname}`
  if (route === 'POST /v1/chat/completions') await answer(Buffer.concat(chunks).toString(), response)
  else if (route === 'GET /live') sendJson(response, { status: 'ok' })
  else if (route === 'PUT /delay') {
    delayMs = Number(url.searchParams.get('ms'))
    sendJson(response, {})
  } else if (route === 'GET /report') {
    sendJson(response, { calls, max_concurrent_calls: maxConcurrentCalls, own_ms: ownMs, last_body: lastBody })
    calls = maxConcurrentCalls = 0
    ownMs = []
  } else response.writeHead(404).end()
}

async function answer (body: string, response: ServerResponse): Promise<void> {
  const startedAt = performance.now()
  calls += 1
  maxConcurrentCalls = Math.max(maxConcurrentCalls, ++concurrentCalls)
  response.once('close', () => {
    concurrentCalls -= 1
    ownMs.push(performance.now() - startedAt)
  })
  const asked: unknown = JSON.parse(body)
  if (typeof asked === 'object' && asked !== null && 'stream' in asked &&
    asked.stream === true) await sendStream(response)
  else {
    lastBody = body
    await pause(delayMs)
    sendJson(response, {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'scripted',
      choices: [{ index: 0, message: { role: 'assistant', content: ANSWER }, finish_reason: 'stop' }],
      usage: USAGE,
    })
  }
}

async function sendStream (response: ServerResponse): Promise<void> {
  const startedAt = performance.now()
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (choices: object[], more: object = {}) => {
    response.write(
      `data: ${JSON.stringify({
        id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'scripted', choices, ...more,
      })}\n\n`,
    )
  }
  for (const [index, content] of PIECES.entries()) {
    await pause(startedAt + delayMs * (index + 1) / PIECES.length - performance.now())
    if (response.destroyed) return
    send([{ index: 0, delta: { ...(index === 0 && { role: 'assistant' }), content }, finish_reason: null }])
  }
  send([{ index: 0, delta: {}, finish_reason: 'stop' }])
  send([], { usage: USAGE })
  response.end('data: [DONE]\n\n')
}

/** Without a delay there is not even a timer. */
async function pause (milliseconds: number): Promise<void> {
  if (delayMs > 0 && milliseconds > 0) await delay(milliseconds)
}

function sendJson (response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
