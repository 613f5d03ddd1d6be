import { createServer } from 'node:net'
import { isMainThread } from 'node:worker_threads'

/*
 * Is loaded into a measured gateway before its own program, with --expose-gc. A connection to the socket that its URL
 * names (?socket=PATH) is answered, as JSON, with what the process uses after all garbage is collected.
 */

const { gc } = globalThis
if (isMainThread && gc !== undefined) {
  createServer((socket) => {
    socket.on('error', () => {})
    // What the first collection lets go of may hold more.
    gc()
    setImmediate(() => {
      gc()
      const { heapUsed, external, arrayBuffers, rss } = process.memoryUsage()
      socket.end(JSON.stringify({ heapUsed, external, arrayBuffers, rss }))
    })
  }).listen(new URL(import.meta.url).searchParams.get('socket')).unref()
}
