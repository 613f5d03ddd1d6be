import type { FastifyReply } from 'fastify'

/**
 * Tells once when an exchange is over, and whether its whole answer was sent; at once when it is over already. Unlike the hook
 * onResponse this comes for a client that leaves before, too.
 */
export function whenOver ({ raw }: FastifyReply, tell: (answered: boolean) => void): void {
  if (raw.destroyed) {
    tell(raw.writableFinished)
    return
  }
  let answered = false
  raw.once('finish', () => { answered = true })
  raw.once('close', () => { tell(answered) })
}
