import { request, type Agent, type OutgoingHttpHeaders } from 'node:http'

interface Exchange {
  method: string
  agent: Agent
  headers?: OutgoingHttpHeaders
  /** JSON; absent: a request without a body. */
  body?: string | undefined
}

/** Makes one request and reads its whole answer. */
export async function exchange (
  url: URL, { method, agent, headers = {}, body }: Exchange,
): Promise<{ status: number, text: string }> {
  return await new Promise((resolve, reject) => {
    const bodyHeaders = body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const outgoing = request(url, { method, agent, headers: { ...bodyHeaders, ...headers } }, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => { chunks.push(chunk) })
      incoming.on('end', () => {
        resolve({ status: incoming.statusCode ?? 0, text: Buffer.concat(chunks).toString() })
      })
      incoming.on('error', reject)
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
