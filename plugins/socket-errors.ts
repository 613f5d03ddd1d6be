import { randomUUID } from 'node:crypto'
import { STATUS_CODES, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { errorBody, statusOf } from '../http/error-responses.js'
import { ServiceError } from '../lib/errors/service-error.js'

/** The answer that the connection is at is known to Node alone, under this name since its beginnings. */
interface Connection extends Socket {
  _httpMessage?: ServerResponse | null
}

const waiting = new WeakSet<Socket>()

/**
 * Bytes that never became a request: there is no reply object to answer them with, so the answer is written by hand.
 */
export function answerBrokenRequest (error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const current = (socket as Connection)._httpMessage
  if (current?.req.complete === true) {
    // A good request came before on this connection: the next answer that the client reads must be that one's.
    if (!waiting.has(socket)) {
      waiting.add(socket)
      current.once('close', () => {
        waiting.delete(socket)
        answerBrokenRequest(error, socket)
      })
    }
    return
  }
  if (current?.headersSent === true) {
    socket.destroy()
    return
  }
  const requestId = randomUUID()
  const detail = error.code === 'HPE_HEADER_OVERFLOW'
    ? 'The request headers are too large'
    : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'The request did not arrive in time' : 'The request is malformed'
  const answer = new ServiceError('invalid_request', detail)
  const status = statusOf(answer)
  const body = JSON.stringify(errorBody(answer, requestId))
  socket.end([
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n'))
}
