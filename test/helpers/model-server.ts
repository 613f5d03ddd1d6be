import { createHash } from 'node:crypto'
import type { Test } from 'tap'
import { after, ScriptedServer, sendEndlessly, sendJson, type Behaviour } from './scripted-server.js'

export {
  answering, hangUp, sendJson, silent, UNUSED_URL, type Behaviour, type ReceivedRequest,
} from './scripted-server.js'

/** Length of the server's vectors. */
export const DIMENSIONS = 8

/** What the protocol asks for, whichever of them the request speaks. */
export const correct: Behaviour = ({ body }, response) => {
  if (Array.isArray(body['input'])) {
    sendJson(response, embeddings(
      (body['input'] as string[]).map((text) => vectorOf(text)),
    ))
  } else if (Array.isArray(body['texts'])) {
    sendJson(
      response, ranked(String(body['query']), body['texts'] as string[]).map(({ index, score }) => ({ index, score })),
    )
  } else {
    sendJson(response, {
      results: ranked(String(body['query']), body['documents'] as string[]).map(
        ({ index, score }) => ({ index, relevance_score: score }),
      ),
    })
  }
}

/**
 * Models behind HTTP on the loopback interface: POST /v1/embeddings and /v1/rerank, answered correctly unless a test
 * says otherwise.
 */
export class ModelServer extends ScriptedServer {
  constructor () {
    super(correct, (request) => request)
  }

  /** The texts of the embedding requests, in the order they came. */
  get batches (): string[][] {
    return this.requests.map(({ body }) => body['input'] as string[])
  }
}

/** A server that is closed when the test ends. */
export async function startModelServer (t: Test): Promise<ModelServer> {
  const server = new ModelServer()
  await server.listen()
  t.teardown(async () => { await server.close() })
  return server
}

/** The vector that the server makes of a text: the same every time, and far from that of any other text. */
export function vectorOf (text: string, dimensions = DIMENSIONS): number[] {
  const bytes = createHash('sha256').update(text).digest()
  return Array.from({ length: dimensions }, (_, index) => bytes[index % bytes.length]! / 128 - 1)
}

/** The score that the server gives a text: how many words of the query stand in it. */
export function scoreOf (query: string, text: string): number {
  return query.split(' ').filter((word) => text.includes(word)).length
}

/** An answer of embeddings with these vectors. */
export function embeddings (vectors: unknown[]): object {
  return {
    object: 'list',
    data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
    model: 'test',
    usage: { prompt_tokens: 1, total_tokens: 1 },
  }
}

/** Best first, as rerankers answer. */
function ranked (query: string, texts: readonly string[]): Array<{ index: number, score: number }> {
  return texts.map((text, index) => ({ index, score: scoreOf(query, text) })).sort((a, b) => b.score - a.score)
}

/** A correct answer after a delay. */
export function slow (milliseconds: number): Behaviour {
  return after(milliseconds, correct)
}

/** Promises a long answer, sends its beginning and closes the connection. */
export const cutInTheMiddle: Behaviour = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
  response.write('{"data":[', () => { response.socket?.destroy() })
}

/** Sends the beginning of an answer and no more. */
export const stallInTheMiddle: Behaviour = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.write('{"data":[')
}

/** Sends spaces until the client disconnects. */
export const endless: Behaviour = (_request, response) => {
  sendEndlessly(
    response, 'application/json', '', Buffer.alloc(256 * 1024, ' '),
  )
}
