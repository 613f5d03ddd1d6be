import { setTimeout as delay } from 'node:timers/promises'
import { NDJSON_TYPE, openSocket, rawRequest, send, sendOk, statusIn, type Tally } from '../client.js'
import { OWN_BANK, OUTSIDER, type Target } from '../target.js'
import { importPath, tinyImport } from '../texts.js'
import type { Input } from './input.js'

/** A tenth of the default, so that an input ends soon. */
const REQUEST_SECONDS = 5
const configuration = `bounds: { request_seconds: ${REQUEST_SECONDS}, stalled_seconds: ${REQUEST_SECONDS} }\n`
const CUT_OFF_WITHIN_MS = (3 * REQUEST_SECONDS + 10) * 1000
const SPARED = 4

/**
 * Sends the beginning of a request on many connections and then a byte a second, until the server has cut all off or it
 * takes too long.
 */
async function dripping (target: Target, tally: Tally, count: number, beginning: string): Promise<string[]> {
  const before = target.connections()
  const sockets = Array.from({ length: count }, () => {
    const socket = openSocket(target)
    socket.once('data', (data: Buffer) => { tally.add({ status: statusIn(data.toString('latin1')) ?? 'closed' }) })
    socket.write(beginning)
    return socket
  })
  const timer = setInterval(() => { for (const socket of sockets) if (socket.writable) socket.write('a') }, 1000)
  try {
    await delay(REQUEST_SECONDS * 1000)
    const deadline = Date.now() + CUT_OFF_WITHIN_MS - REQUEST_SECONDS * 1000
    while (target.alive() && target.connections() > before + SPARED && Date.now() < deadline) await delay(250)
    const standing = target.connections() - before
    return target.alive() && standing > SPARED
      ? [`${standing} of ${count} stand after ${CUT_OFF_WITHIN_MS / 1000} s`]
      : []
  } finally {
    clearInterval(timer)
    for (const socket of sockets) socket.destroy()
  }
}

/** Many connections, and requests that take their time to come. */
export const connections: readonly Input[] = [
  {
    name: 'slow-headers',
    about: '500 connections that send a byte of their head a second',
    configuration,
    run: async (target, tally) => (
      await dripping(target, tally, 500, 'GET /v1/whoami HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Filler: ')
    ),
  },
  {
    name: 'slow-bodies',
    about: '500 connections that announce a body of 10 MB and send a byte a second',
    configuration,
    allowed: ['400', '408', '413', '503', 'closed'],
    run: async (target, tally) => (
      await dripping(
        target, tally, 500,
        `POST /v1/retain HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Service-Principal: ${OUTSIDER}\r\nContent-Type: ` +
          'application/json\r\nContent-Length: 10000000\r\n\r\n{"content":"',
      )
    ),
  },
  {
    name: 'many-headers',
    about: '200 connections without a credential that each send a head of thousands of headers at once, five times',
    allowed: ['400', 'closed'],
    run: async (target, tally) => {
      const headers = Array.from({ length: 4000 }, (_, index) => `${index.toString(36)}:\r\n`).join('')
      const head = rawRequest({ path: '/v1/whoami', principal: null }).replace('\r\n', `\r\n${headers}`)
      for (let round = 0; round < 5; round++) {
        await Promise.all(Array.from({ length: 200 }, async () => {
          const socket = openSocket(target)
          await new Promise<void>((resolve) => {
            socket.once('data', (data: Buffer) => {
              tally.add({ status: statusIn(data.toString('latin1')) ?? 'closed' })
              socket.destroy()
            })
            socket.once('close', () => { resolve() })
            // All connections stand before the first of them sends.
            setTimeout(() => { socket.write(head) }, 200)
          })
        }))
      }
    },
  },
  {
    name: 'byte-chunks',
    about: '4 bodies of 1,000,000 chunks of one byte',
    run: async (target, tally) => {
      await Promise.all(Array.from({ length: 4 }, async () => {
        const socket = openSocket(target)
        const answered = new Promise<string>((resolve) => {
          socket.once('data', (data: Buffer) => { resolve(statusIn(data.toString('latin1')) ?? 'closed') })
          socket.once('close', () => { resolve('closed') })
        })
        socket.write('POST /v1/retain HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ' +
          'application/json\r\nTransfer-Encoding: chunked\r\n\r\n')
        socket.write('1\r\n \r\n'.repeat(1_000_000))
        socket.write('0\r\n\r\n')
        tally.add({ status: await Promise.race([answered, delay(60_000, 'timeout', { ref: false })]) })
        socket.destroy()
      }))
    },
  },
  {
    name: 'open-sockets',
    about: '2000 connections that send nothing, for 5 s',
    run: async (target) => {
      const sockets = Array.from({ length: 2000 }, () => openSocket(target))
      await delay(5000)
      for (const socket of sockets) socket.destroy()
    },
  },
  {
    name: 'open-and-close',
    about: '5000 connections, one after the other in 50 rows, closed in the midst of a request',
    run: async (target) => {
      await Promise.all(Array.from({ length: 50 }, async () => {
        for (let number = 0; number < 100; number++) {
          const socket = openSocket(target)
          socket.write(
            rawRequest({ path: '/v1/recall', body: JSON.stringify({ bank_id: OWN_BANK, query: 'x' }) })
              .slice(0, -number % 40 || undefined),
          )
          await delay(5)
          socket.destroy()
        }
      }))
    },
  },
  {
    name: 'open-and-abort',
    about: '500 connections a second for 8 s that are closed after a request, while 4 clients recall in a full bank',
    prepare: async (target) => {
      await sendOk(target, { path: importPath(), headers: NDJSON_TYPE, body: tinyImport(20_000) })
    },
    run: async (target) => {
      const query = Array.from({ length: 1000 }, (_, index) => index.toString(36).padStart(4, '0')).join(' ')
      const recall = (body: object) => (
        rawRequest({ path: '/v1/recall', body: JSON.stringify({ bank_id: OWN_BANK, max_results: 1, ...body }) })
      )
      const [long, short] = [recall({ query }), recall({ query: 'x' })]
      const kept = Array.from({ length: 4 }, () => {
        const socket = openSocket(target)
        socket.on('data', () => { socket.write(long) })
        socket.write(long)
        return socket
      })
      const startedAt = performance.now()
      for (let number = 0; number < 4000; number++) {
        const late = startedAt + 2 * number - performance.now()
        if (late > 0) await delay(late)
        const socket = openSocket(target)
        socket.write(short)
        setTimeout(() => { socket.destroy() }, 5)
      }
      for (const socket of kept) socket.destroy()
    },
  },
  {
    name: 'requests-at-once',
    about: '1000 bodies of 100 KB at the same moment',
    run: async (target, tally) => {
      const body = JSON.stringify({ bank_id: OWN_BANK, content: 'x', document_id: 'd'.repeat(100_000) })
      tally.add(
        ...await Promise.all(Array.from({ length: 1000 }, async () => (
          await send(target, { path: '/v1/retain', body, limitMs: 60_000 })
        ))),
      )
    },
  },
  {
    name: 'bodies-at-once',
    about: '60 bodies of 10 MB at the same moment, of callers without rights',
    run: async (target, tally) => {
      const body = `{"bank_id":"x","content":"${'x'.repeat(10_000_000)}"}`
      tally.add(
        ...await Promise.all(Array.from({ length: 60 }, async () => (
          await send(target, { path: '/v1/retain', principal: OUTSIDER, body, limitMs: 60_000 })
        ))),
      )
    },
  },
]
