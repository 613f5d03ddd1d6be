import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { runCommand } from '../../../helpers/command.js'

/** Key and certificate: for the addresses 127.0.0.1 and ::1, or for the name localhost. Valid from 2020 to 2120. */
const certificate = (about: 'address' | 'name') => (
  fileURLToPath(new URL(`../../../fixtures/tls/${about}.pem`, import.meta.url))
)

/** The message of PostgreSQL that refuses a role. */
function refusal (): Buffer {
  const fields = Buffer.from('SFATAL\0VFATAL\0C28000\0Mno such role\0\0')
  const head = Buffer.alloc(5)
  head.write('E')
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}

/** What the migration says about a server that offers TLS and then knows no role. */
async function sayingOf (t: Test, about: 'address' | 'name', host: string, mode: string): Promise<string> {
  const pem = readFileSync(certificate(about))
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write('S')
      const secure = new TLSSocket(socket, { isServer: true, cert: pem, key: pem })
      secure.on('error', () => {})
      secure.once('data', () => { secure.end(refusal()) })
    })
  })
  t.teardown(() => { server.close() })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const { code, stderr } = await runCommand('migrate', {
    DATABASE_URL: `postgres://app@${host}:${port}/memories?sslmode=${mode}`, NODE_EXTRA_CA_CERTS: certificate(about),
  })
  t.equal(code, 1)
  return stderr
}

const CONNECTED = /^The database answered 28000: no such role\n$/
const OTHER_HOST = /cannot be reached: ERR_TLS_CERT_ALTNAME_INVALID \(its certificate is for another host\)\n$/

t.test('with sslmode=verify-full, the certificate must be valid for the address or name of the URI', async (t) => {
  t.match(await sayingOf(t, 'address', '127.0.0.1', 'verify-full'), CONNECTED)
  t.match(await sayingOf(t, 'name', '127.0.0.1', 'verify-full'), OTHER_HOST)
  t.match(await sayingOf(t, 'name', 'localhost', 'verify-full'), CONNECTED)
  t.match(await sayingOf(t, 'address', 'localhost', 'verify-full'), OTHER_HOST)
})

t.test('with sslmode=require, any certificate is accepted', async (t) => {
  t.match(await sayingOf(t, 'name', '127.0.0.1', 'require'), CONNECTED)
})
