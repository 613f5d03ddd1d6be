import { once } from 'node:events'
import { connect } from 'node:net'
import { Type, type Static } from 'typebox'
import { checker } from './checked.js'

const Told = Type.Object({ heapUsed: Type.Number(), external: Type.Number(), rss: Type.Number() })
const checkTold = checker(Told, 'What the gateway tells of its memory')

/** Arguments of node with which a gateway reports its memory after a garbage collection, on a socket at a path. */
export function collecting (socket: string): string[] {
  const program = new URL('heap-told.mjs', import.meta.url)
  program.searchParams.set('socket', socket)
  return ['--expose-gc', '--import', program.href]
}

/**
 * Asks a gateway that was started with `collecting(socket)` to collect all garbage, which stops it for tens of
 * milliseconds.
 * @returns bytes in use afterwards; undefined when it does not answer because it has ended
 */
export async function afterCollection (socket: string): Promise<Static<typeof Told> | undefined> {
  const connection = connect(socket)
  let text = ''
  connection.setEncoding('latin1').on('data', (piece: string) => { text += piece })
  try {
    await once(connection, 'close')
    return checkTold(JSON.parse(text))
  } catch {
    return undefined
  }
}
