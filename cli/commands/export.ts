import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, type WriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { codeOf, CommandError } from '../failures.js'
import { note, write, writeJson } from '../output.js'
import { withServer, type ServerOptions } from '../server-command.js'
import { Progress } from '../progress.js'

export interface ExportOptions extends ServerOptions {
  output?: string
}

/** What has gone by of an export. */
interface Count {
  memories: number
  bytes: number
}

/** NDJSON on standard output, or in a file that takes its name when it is complete. */
export async function exportBank (bank: string, options: ExportOptions): Promise<void> {
  const { output, json = false } = options
  await withServer(options, async (server) => {
    const bytes = await server.exportBank(bank)
    if (output === undefined) {
      for await (const chunk of bytes) await write(chunk)
      return
    }
    const count = await writeFile(output, bytes)
    if (json) await writeJson({ bank_id: bank, file: output, ...count })
    else note(`${count.memories} memories in ${output}`)
  })
}

async function writeFile (path: string, bytes: AsyncIterable<Uint8Array>): Promise<Count> {
  const partial = `${path}.${randomBytes(4).toString('hex')}.part`
  // Memories are nobody else's.
  const file = createWriteStream(partial, { flags: 'wx', mode: 0o600 })
  try {
    await once(file, 'open').catch((error: unknown) => { throw new CommandError(`${path} cannot be written (${codeOf(error) ?? 'unknown'})`) })
    const count = await fill(file, bytes)
    await rename(partial, path)
    return count
  } catch (error) {
    file.destroy()
    await rm(partial, { force: true })
    throw error
  }
}

async function fill (file: WriteStream, bytes: AsyncIterable<Uint8Array>): Promise<Count> {
  const progress = new Progress('export')
  const count: Count = { memories: -1, bytes: 0 }
  // A fault, a full disk for one, ends the wait for it.
  const failed = new Promise<never>((_resolve, reject) => { file.once('error', reject) })
  failed.catch(() => {})
  for await (const chunk of bytes) {
    count.bytes += chunk.length
    for (const byte of chunk) if (byte === 10) count.memories++
    progress.update(count.memories)
    if (!file.write(chunk)) await Promise.race([once(file, 'drain'), failed])
  }
  file.end()
  await Promise.race([once(file, 'close'), failed])
  progress.end()
  return { ...count, memories: Math.max(0, count.memories) }
}
