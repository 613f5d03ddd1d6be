import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { connectionKey, readSendQueues, type SendQueues } from './tcp-send-queues.js'

const MAX_SWEEP_MS = 5000

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Looks at every connection, and cuts off whose client takes its answers too slowly. A listening gateway does so by
     * itself.
     * @param now milliseconds of a clock that only goes forward
     * @param unacknowledged what the system has taken for its connections and their clients have not
     */
    cutOffSlowReaders (now: number, unacknowledged?: SendQueues): void
  }
}

/** How far a client was that has something to take. */
interface Progress {
  /** Bytes that it had taken when the window began, and when that was. */
  from: number
  since: number
  /** Bytes that it had taken at the last look, and when the look was that first found so many. */
  taken: number
  movedAt: number
}

/**
 * A client that has something to take and takes nothing for `bounds.stalled_seconds`, or on average over so long less
 * than `bounds.read_bytes_per_second`, is cut off. What counts is what its end has acknowledged, where the system
 * tells, and else what the system has taken for it: that goes forward in steps of a megabyte and more. While a handler
 * still computes, and while an event stream has nothing to say, nothing waits to be taken.
 */
async function slowReaders (app: FastifyInstance): Promise<void> {
  const windowMs = app.bounds.stalled_seconds * 1000
  const leastBytes = app.bounds.stalled_seconds * app.bounds.read_bytes_per_second
  const sockets = new Map<Socket, Progress | undefined>()

  app.server.on('connection', (socket: Socket) => {
    sockets.set(socket, undefined)
    socket.once('close', () => { sockets.delete(socket) })
  })

  const cutOff = (socket: Socket) => {
    let requestId: string | undefined
    for (const { raw, request } of app.activeRequests.replies()) {
      if (raw.socket === socket) requestId = request.id
    }
    app.log.info({ ...(requestId !== undefined && { request_id: requestId }) }, 'a client that takes its answer too slowly is cut off')
    socket.destroy()
  }

  app.decorate('cutOffSlowReaders', (now: number, unacknowledged: SendQueues = new Map()) => {
    for (const [socket, progress] of sockets) {
      if (socket.destroyed) continue
      if (socket.writableLength === 0) {
        if (progress !== undefined) sockets.set(socket, undefined)
        continue
      }
      const taken = socket.bytesWritten - socket.writableLength - (unacknowledged.get(connectionKey(socket)) ?? 0)
      if (progress === undefined) {
        sockets.set(socket, { from: taken, since: now, taken, movedAt: now })
        continue
      }
      // Less than before is a part of a piece that the system has taken meanwhile.
      if (taken > progress.taken) Object.assign(progress, { taken, movedAt: now })
      const isOver = now - progress.since >= windowMs
      if (now - progress.movedAt >= windowMs || (isOver && taken - progress.from < leastBytes)) cutOff(socket)
      else if (isOver) Object.assign(progress, { from: taken, since: now })
    }
  })

  app.addHook('onListen', async () => {
    let known: SendQueues = new Map()
    const look = async () => {
      const now = performance.now()
      const isAsked = [...sockets.keys()].some(({ writableLength }) => writableLength > 0)
      if (isAsked) known = await readSendQueues(known)
      app.cutOffSlowReaders(now, known)
    }
    const timer = setInterval(() => { void look() }, Math.min(windowMs / 4, MAX_SWEEP_MS))
    timer.unref()
    // Not before: a client that does not read would hold up a stop, too.
    app.server.once('close', () => { clearInterval(timer) })
  })
}

export default fp(slowReaders, { name: 'slow-readers', fastify: '5.x', dependencies: ['bounds', 'active-requests'], decorators: { fastify: ['activeRequests'] } })
