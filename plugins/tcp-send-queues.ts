import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { systemFlow } from '../lib/concurrency/system-flow.js'
import { turns } from '../lib/concurrency/turn-budget.js'

/**
 * The files in which Linux lists the unacknowledged bytes of every connection; other systems do not have them.
 */
const FILES = ['/proc/net/tcp', '/proc/net/tcp6']
/** Local and remote address and port, the state, and the bytes in the send queue. */
const ROW = /: ([0-9A-F]+):([0-9A-F]{4}) ([0-9A-F]+):([0-9A-F]{4}) [0-9A-F]{2} ([0-9A-F]{8}):/
const MAPPED = '00000000000000000000ffff'
/** The tables list the connections of all callers. */
const CONNECTIONS = systemFlow('connections')

/** Bytes that were sent and are not acknowledged yet, by `connectionKey`. */
export type SendQueues = ReadonlyMap<string, number>

/** Reads the send queues of all connections. @returns `before` when they cannot be read */
export async function readSendQueues (before: SendQueues): Promise<SendQueues> {
  try {
    return await parseSendQueues(await Promise.all(FILES.map(async (file) => await readFile(file, 'latin1'))))
  } catch {
    return before
  }
}

/** Parses the tables in turns of the event loop, because ten thousand connections take longer than one turn may. */
export async function parseSendQueues (tables: string[]): Promise<SendQueues> {
  const found = new Map<string, number>()
  for (const line of tables.flatMap((table) => table.split('\n'))) {
    if (turns.isExhausted) await turns.next(CONNECTIONS)
    const row = ROW.exec(line)
    if (row === null) continue
    const [, local, localPort, remote, remotePort, waiting] = row as unknown as string[]
    const bytes = Number.parseInt(waiting!, 16)
    if (bytes === 0) continue
    const ports = [localPort!, remotePort!].map((port) => Number.parseInt(port, 16))
    found.set(`${ofTable(local!)}:${ports[0]} ${ofTable(remote!)}:${ports[1]}`, bytes)
  }
  return found
}

type Endpoints = Pick<Socket, 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort'>

export function connectionKey ({ localAddress, localPort, remoteAddress, remotePort }: Endpoints): string {
  return `${ofText(localAddress ?? '')}:${localPort ?? 0} ${ofText(remoteAddress ?? '')}:${remotePort ?? 0}`
}

/**
 * @param words an address of the table: words of four bytes, each little-endian
 * @returns its bytes in network order, in hexadecimal digits
 */
function ofTable (words: string): string {
  const digits = words.toLowerCase().replaceAll(/(..)(..)(..)(..)/g, '$4$3$2$1')
  return digits.startsWith(MAPPED) ? digits.slice(MAPPED.length) : digits
}

function ofText (address: string): string {
  const text = address.replace(/%.*$/, '').replace(/^::ffff:(?=[\d.]+$)/i, '')
  if (!text.includes(':')) return text.split('.').map((part) => Number(part).toString(16).padStart(2, '0')).join('')
  const halves = text.toLowerCase().split('::').map((half) => half.split(':').filter((group) => group !== ''))
  const [before = [], after = []] = halves
  const groups = [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after]
  return groups.map((group) => group.padStart(4, '0')).join('')
}
