import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'

type Tell = (answered: boolean) => void

/** Who is told of the end of an answer. One listener an answer serves them all: an emitter takes ten for a leak. */
const told = new WeakMap<ServerResponse, Tell[]>()

/**
 * Tells once when an exchange is over, and whether its whole answer was sent; at once when it is over already. Unlike the hook
 * onResponse this comes for a client that leaves before, too.
 */
export function whenOver ({ raw }: FastifyReply, tell: Tell): void {
  if (raw.destroyed) {
    tell(raw.writableFinished)
    return
  }
  const others = told.get(raw)
  if (others !== undefined) {
    others.push(tell)
    return
  }
  const all = [tell]
  told.set(raw, all)
  let answered = false
  raw.once('finish', () => { answered = true })
  raw.once('close', () => { for (const each of all) each(answered) })
}
