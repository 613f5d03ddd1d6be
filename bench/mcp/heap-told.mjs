import { appendFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'

/*
 * Is loaded into a gateway that is measured, with --expose-gc. At SIGWINCH, which means nothing to a server, it adds a
 * line of JSON to the file that its URL names (?file=PATH): what the process uses after all garbage is collected.
 */

const { gc } = globalThis
if (isMainThread && gc !== undefined) {
  const file = fileURLToPath(new URL(import.meta.url).searchParams.get('file') ?? '')
  process.on('SIGWINCH', () => {
    gc()
    // What the first collection lets go of may hold more.
    setImmediate(() => {
      gc()
      const { heapUsed, external } = process.memoryUsage()
      appendFileSync(file, `${JSON.stringify({ heapUsed, external })}\n`)
    })
  })
}
