import type { FastifyReply } from 'fastify'

/** Names a request header on which the answer depends, besides those that are named already, such as Origin. */
export function addVary (reply: FastifyReply, header: string): void {
  const named = reply.getHeader('vary')
  reply.header('vary', named === undefined ? header : `${String(named)}, ${header}`)
}
