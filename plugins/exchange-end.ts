import type { FastifyReply } from 'fastify'

/**
 * Tells once when an exchange is over, and whether its whole answer was sent. Unlike the hook onResponse this comes for a client that
 * leaves before, too.
 */
export function whenOver ({ raw }: FastifyReply, tell: (answered: boolean) => void): void {
  let answered = false
  raw.once('finish', () => { answered = true })
  raw.once('close', () => { tell(answered) })
}
