import { once } from 'node:events'
import { createServer } from 'node:net'

/** A port of the loopback interface that is free now; another process may take it before it is used. */
export async function freePort (): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('There is no port')
  server.close()
  await once(server, 'close')
  return address.port
}
