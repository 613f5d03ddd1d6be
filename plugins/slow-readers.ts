import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { connectionKey, readSendQueues, type SendQueues } from './tcp-send-queues.js'

const MAX_SWEEP_MS = 5000

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Checks every connection and closes those whose clients read their responses too slowly. A listening gateway calls
     * it by itself.
     * @param now milliseconds of a monotonic clock
     * @param unacknowledged bytes in the send queues of the operating system
     */
    cutOffSlowReaders (now: number, unacknowledged?: SendQueues): void
  }
}

/** How much of its pending data a client has read. */
interface Progress {
  /** Bytes read when the window began, and when that was. */
  from: number
  since: number
  /** Bytes read at the last check, and when a check first found this number. */
  read: number
  movedAt: number
}

/**
 * Disconnects clients that read too slowly: a client with pending data must read something within every
 * `bounds.stalled_seconds`, and on average over that time at least `bounds.read_bytes_per_second`. Bytes count as read
 * when the client has acknowledged them, where the operating system reports that; elsewhere when the operating system
 * has accepted them, which happens in steps of a megabyte and more. No data is pending, and no time counts, while a
 * handler computes or an event stream is silent.
 */
async function slowReaders (app: FastifyInstance, { ownsServer }: { ownsServer: boolean }): Promise<void> {
  const windowMs = app.bounds.stalled_seconds * 1000
  const minBytes = app.bounds.stalled_seconds * app.bounds.read_bytes_per_second
  const sockets = new Map<Socket, Progress | undefined>()

  const watch = (socket: Socket) => {
    if (sockets.has(socket)) return
    sockets.set(socket, undefined)
    socket.once('close', () => { sockets.delete(socket) })
  }
  if (ownsServer) app.server.on('connection', watch)
  // The other connections of another app are not the gateway's to close.
  else app.addHook('onRequest', ({ raw: { socket } }, _reply, done) => { watch(socket); done() })

  const disconnect = (socket: Socket) => {
    let requestId: string | undefined
    for (const { raw, request } of app.activeRequests.replies()) {
      if (raw.socket === socket) requestId = request.id
    }
    app.log.info({ request_id: requestId }, 'a client that reads its response too slowly is disconnected')
    socket.destroy()
  }

  app.decorate('cutOffSlowReaders', (now: number, unacknowledged: SendQueues = new Map()) => {
    for (const [socket, progress] of sockets) {
      if (socket.destroyed) continue
      if (socket.writableLength === 0) {
        if (progress !== undefined) sockets.set(socket, undefined)
        continue
      }
      const queued = unacknowledged.get(connectionKey(socket)) ?? 0
      const read = socket.bytesWritten - socket.writableLength - queued
      if (progress === undefined) {
        sockets.set(socket, { from: read, since: now, read, movedAt: now })
        continue
      }
      // The value can fall, because the operating system counts a chunk only when it has accepted all of it.
      if (read > progress.read) Object.assign(progress, { read, movedAt: now })
      const isOver = now - progress.since >= windowMs
      if (now - progress.movedAt >= windowMs || (isOver && read - progress.from < minBytes)) disconnect(socket)
      else if (isOver) Object.assign(progress, { from: read, since: now })
    }
  })

  app.addHook('onListen', async () => {
    let known: SendQueues = new Map()
    const check = async () => {
      const now = performance.now()
      const hasWaiting = [...sockets.keys()].some(({ writableLength }) => writableLength > 0)
      if (hasWaiting) known = await readSendQueues(known)
      app.cutOffSlowReaders(now, known)
    }
    const timer = setInterval(() => { void check() }, Math.min(windowMs / 4, MAX_SWEEP_MS))
    timer.unref()
    // The check continues until the server is closed, because a client that does not read would delay the stop.
    app.server.once('close', () => { clearInterval(timer) })
  })
}

export default fp(slowReaders, { name: 'slow-readers', fastify: '5.x', dependencies: ['bounds', 'active-requests'] })
