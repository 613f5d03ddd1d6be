import type { ServerResponse } from 'node:http'
import type { Test } from 'tap'
import { member } from '../../lib/models/remote/endpoint.js'
import { plainAnswer, streamedAnswer, streamedError, type Answer, type LanguageRequest } from './language-protocols.js'
import {
  ScriptedServer, sendEndlessly, sendJson, type Behaviour as AnyBehaviour, type ReceivedRequest,
} from './scripted-server.js'

export { after, answering, hangUp, silent, UNUSED_URL } from './scripted-server.js'
export type { Answer, LanguageRequest, Protocol } from './language-protocols.js'

export type Behaviour = AnyBehaviour<LanguageRequest>

/** The default answer of the server. */
export const USUAL_ANSWER = 'Alice lives in Lyon. [1]'

/**
 * A language model behind HTTP on the loopback interface: POST /v1/chat/completions (OpenAI) and /v1/messages
 * (Anthropic).
 */
export class LanguageServer extends ScriptedServer<LanguageRequest> {
  constructor () {
    super(says(USUAL_ANSWER), understand)
  }
}

/** A server that is closed when the test ends. */
export async function startLanguageServer (t: Test): Promise<LanguageServer> {
  const server = new LanguageServer()
  await server.listen()
  t.teardown(async () => { await server.close() })
  return server
}

function understand (request: ReceivedRequest): LanguageRequest | undefined {
  const { path, body } = request
  if (path !== '/v1/chat/completions' && path !== '/v1/messages') return undefined
  const messages = Array.isArray(body['messages']) ? body['messages'] as unknown[] : []
  const said = (role: string) => (
    messages.filter((message) => member(message, 'role') === role).map((message) => textOf(member(message, 'content')))
  )
  const maxTokens = body['max_tokens'] ?? body['max_completion_tokens']
  return {
    ...request,
    protocol: path === '/v1/messages' ? 'anthropic' : 'openai',
    system: [...said('system'), ...said('developer'), textOf(body['system'])].filter((text) => text !== '').join('\n'),
    user: said('user').join('\n'),
    stream: body['stream'] === true,
    maxTokens: typeof maxTokens === 'number' ? maxTokens : undefined,
  }
}

function textOf (content: unknown): string {
  if (typeof content === 'string') return content
  return Array.isArray(content) ? content.map((part) => String(member(part, 'text') ?? '')).join('') : ''
}

/** A correct answer, as a whole or as a stream, as the request asks. */
export function says (
  text: string | ((request: LanguageRequest) => string), answer: Omit<Partial<Answer>, 'text'> = {},
): Behaviour {
  return (request, response) => {
    const whole: Answer = { text: typeof text === 'string' ? text : text(request), ...answer }
    if (!request.stream) sendJson(response, plainAnswer(request, whole))
    else {
      const { opening, deltas, ending } = streamedAnswer(request, whole)
      sendEvents(response, [...opening, ...deltas, ...ending]).end()
    }
  }
}

/** Turns of the event loop in which a client in the same process takes what has been sent to it. */
const TURNS_TO_READ = 20

/**
 * Sends the beginning of an answer, in a stream the deltas of these pieces, and closes the connection when the client
 * has had time to take them: a body that fails discards what its reader has not taken.
 */
export function cutInTheMiddle (...pieces: string[]): Behaviour {
  const cutAfter = (turns: number, response: ServerResponse) => {
    if (turns === 0) response.socket?.destroy()
    else setImmediate(() => { cutAfter(turns - 1, response) })
  }
  return (request, response) => {
    partly(request, response, pieces, () => { cutAfter(TURNS_TO_READ, response) })
  }
}

/** Sends the beginning of an answer, in a stream the deltas of these pieces, and no more. */
export function stallInTheMiddle (...pieces: string[]): Behaviour {
  return (request, response) => { partly(request, response, pieces, () => {}) }
}

/**
 * A stream with the deltas of these pieces that ends in good order but without the event that says so; an answer at
 * once is cut short.
 */
export function endsEarly (...pieces: string[]): Behaviour {
  return (request, response) => { partly(request, response, pieces, () => { response.end() }) }
}

/**
 * A stream with the deltas of these pieces and then an error of the protocol; an answer at once is 500 with the same
 * error.
 */
export function failsInTheMiddle (type: string, ...pieces: string[]): Behaviour {
  return (request, response) => {
    if (request.stream) partly(request, response, pieces, () => { response.end(streamedError(request, type)) })
    else {
      response.writeHead(500, { 'content-type': 'application/json' }).end(JSON.stringify({
        type: 'error', error: { type, message: 'It failed' },
      }))
    }
  }
}

/**
 * Status 200 with something else than the protocol says: `html` a page, `json` another object, `broken` cut JSON, in a
 * stream as an event.
 */
export function garbage (kind: 'html' | 'json' | 'broken'): Behaviour {
  const body = { html: '<html>Welcome</html>', json: '{"ok":true}', broken: '{"choices":[{"mess' }[kind]
  return (request, response) => {
    const isStream = request.stream && kind !== 'html'
    response.writeHead(200, {
      'content-type': kind === 'html' ? 'text/html' : isStream ? 'text/event-stream' : 'application/json',
    })
    response.end(isStream ? `data: ${body}\n\n` : body)
  }
}

/** An endless answer at the speed of the client: spaces, or deltas in a stream. */
export const endless: Behaviour = (request, response) => {
  if (!request.stream) sendEndlessly(response, 'application/json', '', Buffer.alloc(256 * 1024, ' '))
  else {
    const { opening, deltas } = streamedAnswer(request, { text: 'word '.repeat(500) })
    sendEndlessly(response, 'text/event-stream', opening.join(''), Buffer.from(deltas.join('')))
  }
}

/** Sends the pieces of a stream one by one, when the test requests each; for streaming requests only. */
export function piecemeal (): { behaviour: Behaviour, say: (piece: string) => void, finish: () => void } {
  const commands: Array<string | null> = []
  let wake = () => {}
  const tell = (command: string | null) => {
    commands.push(command)
    wake()
  }
  const behaviour: Behaviour = async (request, response) => {
    const pieces: string[] = []
    sendEvents(response, streamedAnswer(request, { text: '' }).opening)
    for (;;) {
      while (commands.length === 0) await new Promise<void>((resolve) => { wake = resolve })
      const piece = commands.shift()!
      if (piece === null) break
      pieces.push(piece)
      response.write(streamedAnswer(request, { text: '', pieces: [piece] }).deltas.join(''))
    }
    response.end(streamedAnswer(request, { text: pieces.join('') }).ending.join(''))
  }
  return { behaviour, say: tell, finish: () => { tell(null) } }
}

function sendEvents (response: ServerResponse, events: readonly string[]): ServerResponse {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) response.write(event)
  return response
}

function partly (request: LanguageRequest, response: ServerResponse, pieces: string[], then: () => void): void {
  if (request.stream) {
    const { opening, deltas } = streamedAnswer(request, { text: '', pieces })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write([...opening, ...deltas].join(''), then)
  } else {
    const whole = JSON.stringify(plainAnswer(request, { text: pieces.join('') }))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write(whole.slice(0, whole.length / 2), then)
  }
}
