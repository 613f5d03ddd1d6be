import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { turns } from '../lib/concurrency/turn-budget.js'

/**
 * Linux tells of every connection how many bytes the other end has not acknowledged; other systems have no such files.
 */
const FILES = ['/proc/net/tcp', '/proc/net/tcp6']
/** Local and remote address and port, the state, and the bytes that wait. */
const ROW = /: ([0-9A-F]+):([0-9A-F]{4}) ([0-9A-F]+):([0-9A-F]{4}) [0-9A-F]{2} ([0-9A-F]{8}):/
const MAPPED = '00000000000000000000ffff'

/** Bytes that the system has taken for a connection and its other end has not acknowledged, by `connectionKey`. */
export type SendQueues = ReadonlyMap<string, number>

/** What is known of all connections; what could not be read now is as it was before. */
export async function readSendQueues (before: SendQueues): Promise<SendQueues> {
  try {
    return await parseSendQueues(await Promise.all(FILES.map(async (file) => await readFile(file, 'latin1'))))
  } catch {
    return before
  }
}

/** Ten thousand connections take longer than a turn may: the rows are read in several. */
export async function parseSendQueues (tables: string[]): Promise<SendQueues> {
  const found = new Map<string, number>()
  for (const line of tables.flatMap((table) => table.split('\n'))) {
    // No caller's key begins with a space.
    if (turns.isSpent) await turns.next(' connections')
    const row = ROW.exec(line)
    if (row === null) continue
    const [, local, localPort, remote, remotePort, waiting] = row as unknown as string[]
    const bytes = Number.parseInt(waiting!, 16)
    if (bytes > 0) found.set(`${ofTable(local!)}:${Number.parseInt(localPort!, 16)} ${ofTable(remote!)}:${Number.parseInt(remotePort!, 16)}`, bytes)
  }
  return found
}

export function connectionKey ({ localAddress, localPort, remoteAddress, remotePort }: Pick<Socket, 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort'>): string {
  return `${ofText(localAddress ?? '')}:${localPort ?? 0} ${ofText(remoteAddress ?? '')}:${remotePort ?? 0}`
}

/**
 * An address as the table has it, in words of four bytes whose last byte comes first, as the digits of its bytes in
 * order.
 */
function ofTable (words: string): string {
  const digits = words.toLowerCase().replaceAll(/(..)(..)(..)(..)/g, '$4$3$2$1')
  return digits.startsWith(MAPPED) ? digits.slice(MAPPED.length) : digits
}

function ofText (address: string): string {
  const text = address.replace(/%.*$/, '').replace(/^::ffff:(?=[\d.]+$)/i, '')
  if (!text.includes(':')) return text.split('.').map((part) => Number(part).toString(16).padStart(2, '0')).join('')
  const [before = [], after = []] = text.toLowerCase().split('::').map((half) => half.split(':').filter((group) => group !== ''))
  const groups = [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after]
  return groups.map((group) => group.padStart(4, '0')).join('')
}
