import type { FastifyReply } from 'fastify'
import { onResponseClose } from './response-close.js'

/**
 * A signal that aborts when the client disconnects before its whole response is sent. Fastify's own `request.signal`
 * (5.12) listens to the request, which Node closes as soon as its body is read, so it aborts too early or never.
 */
export function disconnectSignal (reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  onResponseClose(reply, (sent) => {
    if (!sent) controller.abort(new DOMException('The client left', 'AbortError'))
  })
  return controller.signal
}
