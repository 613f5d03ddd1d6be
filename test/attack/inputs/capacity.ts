import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { openSocket, rawRequest, send } from '../client.js'
import { FOREIGN_BANK, OWN_BANK, OWNER, SOURCE, type Target } from '../target.js'
import { fillBank, MAX_CONTENT_LENGTH, plainText } from '../texts.js'
import type { Input } from './input.js'

/** Another caller, who has a bank. */
const OTHER = 'user:ada'
const OTHER_BANK = 'user-ada'
const ROUNDS = 5
const ROUND_MS = 2000

/** A recall and a batch of 100 KB of another caller, several times. @returns those that were not answered 200 */
async function refusalsOfAnother (target: Target): Promise<string[]> {
  const items = Array.from({ length: 20 }, (_, index) => ({ content: plainText(5000, index) }))
  const refusals: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    await delay(ROUND_MS)
    const answers = await Promise.all([
      send(target, {
        path: '/v1/recall', principal: OTHER, body: JSON.stringify({ bank_id: OTHER_BANK, query: 'ferry' }),
      }),
      send(target, {
        path: '/v1/retain/batch', principal: OTHER, body: JSON.stringify({ bank_id: OTHER_BANK, items }),
      }),
    ])
    for (const { status, code } of answers) {
      if (status !== '200') refusals.push(`another caller was answered ${status} ${code ?? ''}`)
    }
  }
  return [...new Set(refusals)]
}

interface Holding {
  count: number
  /** What each connection sends at first. */
  beginning: string
  /** What happens to each connection once a second. */
  everySecond?: (socket: Socket) => void
}

/** Opens connections that take capacity for as long as they may, and tells whether another caller is still served. */
async function holding (target: Target, { count, beginning, everySecond }: Holding): Promise<string[]> {
  const sockets = Array.from({ length: count }, () => {
    const socket = openSocket(target)
    socket.pause()
    socket.write(beginning)
    return socket
  })
  const timer = setInterval(() => { for (const socket of sockets) everySecond?.(socket) }, 1000)
  try {
    return await refusalsOfAnother(target)
  } finally {
    clearInterval(timer)
    for (const socket of sockets) socket.destroy()
  }
}

function post (path: string, principal: string | null, length: number, beginning: string): string {
  return `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n` +
    (principal === null ? '' : `X-Service-Principal: ${principal}\r\n`) +
    `Content-Length: ${length}\r\n\r\n${beginning}`
}

/** One caller, or one address, that takes as much capacity as it can without exceeding a time limit. */
export const capacity: readonly Input[] = [
  {
    name: 'capacity-answers',
    about: '30 lists of 10 MB, read at 16 KB a second, while another caller recalls and retains',
    prepare: async (target) => { await fillBank(target, OWN_BANK, 200, MAX_CONTENT_LENGTH) },
    run: async (target) => await holding(target, {
      count: 30,
      beginning: rawRequest({ path: `/v1/banks/${OWN_BANK}/memories?limit=200`, principal: OWNER }),
      everySecond: (socket) => { socket.read(16_384) },
    }),
  },
  {
    name: 'capacity-long-bodies',
    about: '450 bodies of 70 KB that do not end, while another caller recalls and retains',
    run: async (target) => await holding(target, {
      count: 450,
      beginning: post(
        '/v1/retain', OWNER, 100_000,
        `{"bank_id":"${FOREIGN_BANK}","content":"x","metadata":{"a":"`.padEnd(70_000, 'a'),
      ),
      everySecond: (socket) => { if (socket.writable) socket.write('a') },
    }),
  },
  {
    name: 'capacity-bodies',
    about: '1900 bodies of 64 KB that do not end, while another caller recalls and retains',
    run: async (target) => await holding(target, {
      count: 1900,
      beginning: post('/v1/recall', OWNER, 65_000, `{"bank_id":"${OWN_BANK}","query":"`.padEnd(64_000, 'a')),
    }),
  },
  {
    name: 'capacity-webhooks',
    about: '2100 events that do not end, without a credential, while another caller recalls and retains',
    run: async (target) => await holding(target, {
      count: 2100, beginning: post(`/v1/ingest/webhook/${SOURCE}`, null, 100, '{'),
    }),
  },
]
