import { once } from 'node:events'
import { connect } from 'node:net'
import { Type, type Static } from 'typebox'
import { checker } from './checker.js'

const MemoryReport = Type.Object({ heapUsed: Type.Number(), external: Type.Number(), rss: Type.Number() })
const checkMemoryReport = checker(MemoryReport, 'The memory report of the gateway')

/** Arguments of node that make a gateway report its memory after garbage collection on a socket at this path. */
export function memoryReportOptions (socket: string): string[] {
  const program = new URL('memory-after-gc-preload.mjs', import.meta.url)
  program.searchParams.set('socket', socket)
  return ['--expose-gc', '--import', program.href]
}

/**
 * Asks a gateway that was started with `memoryReportOptions(socket)` to collect all garbage, which stops it for tens of
 * milliseconds.
 * @returns bytes in use afterwards; undefined when it does not answer because it has ended
 */
export async function memoryAfterGc (socket: string): Promise<Static<typeof MemoryReport> | undefined> {
  const connection = connect(socket)
  let text = ''
  connection.setEncoding('latin1').on('data', (piece: string) => { text += piece })
  try {
    await once(connection, 'close')
    return checkMemoryReport(JSON.parse(text))
  } catch {
    return undefined
  }
}
