import type { FastifyInstance, FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { atCapacity } from '../lib/errors/service-error.js'
import { onResponseClose } from '../http/response-close.js'
import { STREAM_BYTES } from '../http/chunked-body.js'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Counts a stream of the caller and the memory that it uses, until the response is closed.
     * @param caller `callerOf`
     * @throws ServiceError too_many_streams, server_busy
     */
    openStream (caller: string, reply: FastifyReply): void
  }
}

/** Bounds the exports and event streams that a caller has open, since a client decides how long they last. */
async function streams (app: FastifyInstance): Promise<void> {
  const open = new Map<string, number>()
  const limit = app.bounds.streams_per_caller
  app.decorate('openStream', (caller: string, reply: FastifyReply) => {
    const count = open.get(caller) ?? 0
    if (count >= limit) {
      throw atCapacity(
        'too_many_streams',
        `The caller has ${limit} exports and event streams open, the maximum (bounds.streams_per_caller)`,
      )
    }
    const held = app.workBytes.reserve(STREAM_BYTES, caller)
    open.set(caller, count + 1)
    onResponseClose(reply, () => {
      held.release()
      const left = open.get(caller)! - 1
      if (left === 0) open.delete(caller)
      else open.set(caller, left)
    })
  })
}

export default fp(streams, { name: 'streams', fastify: '5.x', dependencies: ['bounds'] })
