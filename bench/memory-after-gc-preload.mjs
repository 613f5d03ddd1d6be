import { createServer } from 'node:net'
import { isMainThread } from 'node:worker_threads'

/*
 * Is loaded into a measured gateway before the gateway's own program, with --expose-gc. It answers each connection to
 * the socket that its URL names (?socket=PATH) with the memory of the process after garbage collection, as JSON.
 */

const { gc } = globalThis
if (isMainThread && gc !== undefined) {
  createServer((socket) => {
    socket.on('error', () => {})
    // Memory that the first collection releases may have kept other memory alive.
    gc()
    setImmediate(() => {
      gc()
      const { heapUsed, external, arrayBuffers, rss } = process.memoryUsage()
      socket.end(JSON.stringify({ heapUsed, external, arrayBuffers, rss }))
    })
  }).listen(new URL(import.meta.url).searchParams.get('socket')).unref()
}
