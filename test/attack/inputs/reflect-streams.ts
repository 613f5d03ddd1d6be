import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { openSocket, rawRequest, statusIn } from '../client.js'
import { OWN_BANK } from '../target.js'
import { fillBank } from '../texts.js'
import type { Input } from './input.js'

const STREAMS = 200
/** Time until all of them expire at once. */
const OPEN_MS = 8000
/** The expiries of one moment take turns of the event loop with other requests. */
const LATEST_END_MS = 3000

let port: Promise<number> | undefined

/** A language model that never answers. It lasts as long as this process, and does not keep it running. */
async function silentModel (): Promise<number> {
  port ??= (async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.resume()
      socket.unref()
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    server.unref()
    return (server.address() as AddressInfo).port
  })()
  return await port
}

/** Streams of answers whose time is over at the same moment. */
export const reflectStreams: readonly Input[] = [
  {
    name: 'reflect-streams',
    about: `${STREAMS} streams of one caller from a model that does not answer, half of which nobody reads; all ` +
      'expire at the same moment',
    configuration: async () => `llm_provider: openai_compatible
llm_provider_config: { base_url: 'http://127.0.0.1:${await silentModel()}/v1', model: silent }
bounds: { streams_per_caller: ${STREAMS} }
`,
    allowed: ['200', '429', '503', '504'],
    prepare: async (target) => { await fillBank(target, OWN_BANK, 60, 500) },
    run: async (target, tally) => {
      const expiry = Date.now() + OPEN_MS
      const streams = Array.from({ length: STREAMS }, (_, index) => {
        const socket = openSocket(target)
        const stream = { socket, text: '', endedAt: undefined as number | undefined }
        if (index % 2 === 0) {
          socket.on('data', (chunk: Buffer) => {
            stream.text += chunk.toString('latin1')
            if (/"code":"[a-z_]+"/.test(chunk.toString('latin1'))) stream.endedAt = Date.now()
          })
        } else socket.pause()
        socket.write(rawRequest({
          path: '/v1/reflect',
          headers: { accept: 'text/event-stream' },
          body: JSON.stringify({
            bank_id: OWN_BANK, query: 'When does the ferry leave the harbour?', timeout_ms: expiry - Date.now(),
          }),
        }))
        return stream
      })
      await delay(expiry + LATEST_END_MS - Date.now())
      const read = streams.filter((_, index) => index % 2 === 0)
      const open = read.filter(({ endedAt }) => endedAt === undefined).length
      const late = Math.max(0, ...read.map(({ endedAt = 0 }) => endedAt - expiry))
      for (const { text } of read) tally.add({ status: statusIn(text) ?? 'none' })
      for (const { socket } of streams) socket.destroy()
      return open > 0 ? [`${open} streams have no end ${LATEST_END_MS} ms after they expired, others ${late} ms`] : []
    },
  },
]
