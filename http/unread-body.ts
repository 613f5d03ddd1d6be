import type { IncomingMessage } from 'node:http'

/**
 * Whether the body of a request, which nothing else reads, has at most so many bytes. The length of a chunked body is
 * known only when it ends. What follows in a longer one is discarded.
 */
export async function hasAtMost (bytes: number, message: IncomingMessage): Promise<boolean> {
  if (message.readableEnded || message.destroyed) return true
  return await new Promise((resolve) => {
    let received = 0
    const onData = (chunk: Buffer) => {
      received += chunk.length
      if (received > bytes) settle()
    }
    const settle = () => {
      message.off('data', onData)
      message.off('end', settle)
      message.off('close', settle)
      message.resume()
      resolve(received <= bytes)
    }
    message.on('data', onData)
    message.on('end', settle)
    // The client has disconnected, so nobody reads the response.
    message.on('close', settle)
  })
}
