import type { FastifyReply } from 'fastify'
import { whenOver } from '../plugins/exchange-end.js'

/**
 * A signal that aborts when the client leaves before its whole answer was sent. Fastify's own `request.signal` (5.12) listens to the
 * request, which Node closes as soon as its body has been read: it aborts then, or never.
 */
export function clientLeaving (reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  whenOver(reply, (answered) => {
    if (!answered) controller.abort(new DOMException('The client left', 'AbortError'))
  })
  return controller.signal
}
