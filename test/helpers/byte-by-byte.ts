import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Test } from 'tap'
import { testApp } from './app.js'
import type { TestConfig } from './config.js'

/** A server that listens, and a way to write to it byte by byte. */
export async function listening (t: Test, config: TestConfig = {}) {
  const gateway = await testApp(t, config)
  await gateway.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = gateway.app.server.address() as { port: number }
  const open = async (): Promise<{ socket: Socket, answer: Promise<string> }> => {
    const socket = connect(port, '127.0.0.1')
    t.teardown(() => { socket.destroy() })
    let received = ''
    socket.on('data', (data) => { received += data.toString() })
    socket.on('error', () => {})
    const answer = new Promise<string>((resolve) => { socket.on('close', () => { resolve(received) }) })
    await once(socket, 'connect')
    return { socket, answer }
  }
  return { ...gateway, open }
}

/** @param headers beside those of every request, without the last line end */
export function head (path: string, headers: string): string {
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers}\r\n\r\n`
}
