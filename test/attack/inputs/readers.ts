import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { openSocket, rawRequest, type Request } from '../client.js'
import { OWN_BANK, OUTSIDER, type Target } from '../target.js'
import { fillBank, MAX_CONTENT_LENGTH } from '../texts.js'
import type { Input } from './input.js'

/** A twelfth of the default, so that an input ends soon. */
const STALLED_SECONDS = 5
const configuration = `bounds: { stalled_seconds: ${STALLED_SECONDS} }\n`
const WIDTH = 100
const ABORTED = 24
/** 200 memories of 50,000 characters. */
const ten = async (target: Target) => { await fillBank(target, OWN_BANK, 200, MAX_CONTENT_LENGTH) }
/** The periodic check, and answers that were admitted late, take time too. */
const CUT_OFF_WITHIN_MS = (3 * STALLED_SECONDS + 10) * 1000
const SPARED = 4

const RECALL: Request = {
  path: '/v1/recall', body: JSON.stringify({ bank_id: OWN_BANK, query: 'ferry harbour', max_results: 200 }),
}
const LIST: Request = { path: `/v1/banks/${OWN_BANK}/memories?limit=200` }
const EXPORT: Request = { path: `/v1/banks/${OWN_BANK}/export` }

/** Opens connections that ask for an answer, waits until the server has cut them off, and tells how many it has not. */
async function holding (target: Target, request: Request, read: (socket: Socket) => void): Promise<string[]> {
  const before = target.unfinished()
  const sockets = Array.from({ length: WIDTH }, () => {
    const socket = openSocket(target)
    socket.pause()
    socket.write(rawRequest(request))
    return socket
  })
  const timer = setInterval(() => { for (const socket of sockets) read(socket) }, 1000)
  try {
    await delay(STALLED_SECONDS * 1000)
    // Those of one caller take turns, so that all are computed at about the same time: who has no answer yet is not
    // slow to read it.
    let answered = 0
    for (let deadline = Date.now() + CUT_OFF_WITHIN_MS; target.alive() && target.unfinished() > before + SPARED;) {
      const unread = target.unread()
      if (unread > answered) {
        answered = unread
        deadline = Date.now() + CUT_OFF_WITHIN_MS
      }
      if (Date.now() >= deadline) break
      await delay(250)
    }
    const standing = target.unfinished() - before
    return target.alive() && standing > SPARED
      ? [`${standing} of ${WIDTH} stand ${CUT_OFF_WITHIN_MS / 1000} s after the last answer began`]
      : []
  } finally {
    clearInterval(timer)
    for (const socket of sockets) socket.destroy()
  }
}

const nothing = () => {}
/** A paused socket has its first 64 KiB in hand; the rest stays in the buffers of the system. */
const oneByte = (socket: Socket) => { socket.read(1) }

function reader (name: string, about: string, request: Request, read: (socket: Socket) => void): Input {
  return { name, about, configuration, prepare: ten, run: async (target) => await holding(target, request, read) }
}

/** Clients that request much and read little. */
export const readers: readonly Input[] = [
  reader('never-read-recall', `${WIDTH} recalls of 10 MB whose answers nobody reads`, RECALL, nothing),
  reader('never-read-list', `${WIDTH} lists of 10 MB whose answers nobody reads`, LIST, nothing),
  reader('never-read-export', `${WIDTH} exports of 10 MB that nobody reads`, EXPORT, nothing),
  reader('slow-read-list', `${WIDTH} lists of 10 MB, read at a byte a second`, LIST, oneByte),
  reader('slow-read-export', `${WIDTH} exports of 10 MB, read at a byte a second`, EXPORT, oneByte),
  {
    name: 'export-aborted',
    about: `${ABORTED} exports that are aborted after their first bytes`,
    prepare: ten,
    run: async (target) => {
      const before = target.files()
      for (let number = 0; number < ABORTED; number++) {
        const socket = openSocket(target)
        socket.write(rawRequest(EXPORT))
        // Some end before the first byte and some after it, and each way to end must release what was allocated.
        if (number % 3 > 0) {
          await Promise.race([
            new Promise((resolve) => { socket.once('data', resolve) }), delay(2000),
          ])
        } else await delay(number)
        socket.destroy()
      }
      await delay(1000)
      const left = target.files() - before
      return left > 0 ? [`${left} files of exports are left`] : []
    },
  },
  {
    name: 'pipelined',
    about: '20 connections with 2000 small requests each, sent without reading',
    configuration,
    run: async (target) => {
      const request = rawRequest({ path: '/v1/banks', principal: OUTSIDER }).repeat(2000)
      const sockets = Array.from({ length: 20 }, () => {
        const socket = openSocket(target)
        socket.pause()
        socket.write(request)
        return socket
      })
      await delay(10_000)
      for (const socket of sockets) socket.destroy()
    },
  },
]
