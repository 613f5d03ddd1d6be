import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { RsaKey } from './tokens.js'

/** An identity provider on the loopback interface. */
export interface JwksServer {
  readonly url: string
  /** The number of received requests. */
  readonly requests: number
  /** Publishes these keys from now on. */
  publish (...keys: RsaKey[]): void
  /** Answers in another way from now on. */
  answer (listener: RequestListener): void
  /** Stops listening and breaks every connection. */
  close (): Promise<void>
}

/** Starts a JWKS endpoint that publishes `keys`. */
export async function startJwksServer (...keys: RsaKey[]): Promise<JwksServer> {
  let requests = 0
  let listener = publishing(keys)
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    requests += 1
    listener(request, response)
  })
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port')
  return {
    url: `http://127.0.0.1:${address.port}/keys?tenant=a`,
    get requests () { return requests },
    publish: (...published) => { listener = publishing(published) },
    answer: (other) => { listener = other },
    close: () => new Promise((resolve) => {
      server.close(() => { resolve() })
      server.closeAllConnections()
    }),
  }
}

function publishing (keys: RsaKey[]): RequestListener {
  return sending(200, JSON.stringify({ keys: keys.map((key) => key.jwk) }))
}

/** A listener that always sends the same answer. */
export function sending (status: number, body: string, headers: Record<string, string> = {}): RequestListener {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(body)
  }
}
