import { randomUUID } from 'node:crypto'
import { STATUS_CODES, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { errorBody, statusOf } from '../http/error-responses.js'
import { ServiceError } from '../lib/base/service-error.js'

/** The response that the connection is sending. Node exposes it only under this undocumented name. */
interface Connection extends Socket {
  _httpMessage?: ServerResponse | null
}

const waiting = new WeakSet<Socket>()

/**
 * Answers bytes that could not be parsed as a request. Fastify has no reply object for them, so the response is written
 * to the socket.
 */
export function answerBrokenRequest (error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const current = (socket as Connection)._httpMessage
  if (current?.req.complete === true) {
    // An earlier request of the connection is still in progress, and the client must get its response first.
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
