import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { constants, createWriteStream, openSync } from 'node:fs'
import { realpath, rename, rm, stat } from 'node:fs/promises'
import { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { unlessAborted } from '../../lib/base/aborting.js'
import { codeOf, CommandError } from '../failures.js'
import { note, printable, write, writeJson } from '../output.js'
import { withServer, type ServerOptions } from '../server-command.js'
import { Progress } from '../progress.js'

interface ExportOptions extends ServerOptions {
  output?: string
  versions?: boolean
}

/** A gateway may write a big bank to a temporary file before it sends the first line. */
const SILENCE_MS = 600_000
/** Milliseconds between two attempts to open a pipe without a reader. */
const READER_WAIT_MS = 100
const BLOCK_CHARACTERS = 64 * 1024

/** Whole lines of an export. */
interface Block {
  text: string
  lines: number
}

/** The part of an export that has been written so far. */
interface Count {
  memories: number
  bytes: number
}

/** NDJSON on standard output, or in a file that takes its name when it is complete. */
export async function exportBank (bank: string, options: ExportOptions): Promise<void> {
  const { output, versions = false, json = false } = options
  await withServer(options, async (gateway, call) => {
    const request = { bank_id: bank, ...versions && { versions } }
    const blocks = blocksOf(gateway.exportBank(request, { ...call, timeoutMs: SILENCE_MS }))
    if (output === undefined) {
      // Ctrl-C also ends the wait for a reader that does not read.
      const shown = process.stdout.isTTY ? printable : (text: string) => text
      for await (const { text } of blocks) await unlessAborted(write(shown(text)), call.signal)
      return
    }
    const count = await writeFile(output, blocks, call.signal)
    if (json) await writeJson({ bank_id: bank, file: output, ...count })
    else note(`${count.memories} ${count.memories === 1 ? 'memory' : 'memories'} in ${output}`)
  })
}

/** Several lines at once, so that a big bank costs few writes. */
async function * blocksOf (lines: AsyncIterable<string>): AsyncGenerator<Block, void> {
  let block: Block = { text: '', lines: 0 }
  for await (const line of lines) {
    block.text += `${line}\n`
    block.lines++
    if (block.text.length < BLOCK_CHARACTERS) continue
    yield block
    block = { text: '', lines: 0 }
  }
  if (block.lines > 0) yield block
}

async function writeFile (path: string, blocks: AsyncIterable<Block>, signal: AbortSignal): Promise<Count> {
  try {
    // The target of a symbolic link is replaced, not the link.
    const target = await realpath(path).catch(() => path)
    const present = await stat(target).catch(() => undefined)
    if (present?.isDirectory() === true) throw new CommandError(`${path} is a folder; name a file in it`)
    // A pipe or device is written to and never replaced by a file.
    if (present?.isFIFO() === true) return await fill(await openPipe(target, signal), blocks, signal)
    if (present !== undefined && !present.isFile()) return await fill(createWriteStream(target), blocks, signal)
    return await replaceFile(target, blocks, signal)
  } catch (error) {
    const isOfSystem = error instanceof Error && 'syscall' in error
    throw isOfSystem ? new CommandError(`${path} cannot be written (${codeOf(error) ?? 'unknown'})`) : error
  }
}

async function replaceFile (path: string, blocks: AsyncIterable<Block>, signal: AbortSignal): Promise<Count> {
  const partial = `${path}.${randomBytes(4).toString('hex')}.part`
  // Only the owner may read the memories.
  const file = createWriteStream(partial, { flags: 'wx', mode: 0o600 })
  try {
    await once(file, 'open')
    const count = await fill(file, blocks, signal)
    await rename(partial, path)
    return count
  } catch (error) {
    file.destroy()
    await rm(partial, { force: true })
    throw error
  }
}

/** Waits for the reader without a blocked thread, which the process would wait for at its end, also after Ctrl-C. */
async function openPipe (path: string, signal: AbortSignal): Promise<Writable> {
  for (;;) {
    try {
      const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
      return new Socket({ fd, readable: false, writable: true })
    } catch (error) {
      if (codeOf(error) !== 'ENXIO') throw error
    }
    await delay(READER_WAIT_MS, undefined, { signal })
  }
}

async function fill (file: Writable, blocks: AsyncIterable<Block>, signal: AbortSignal): Promise<Count> {
  const progress = new Progress('export')
  // The first line is the header.
  const count: Count = { memories: -1, bytes: 0 }
  // An error of the file, such as a full disk, ends the waits below, and so does Ctrl-C: a pipe may have a slow reader.
  const failed = new Promise<never>((_resolve, reject) => { file.once('error', reject) })
  failed.catch(() => {})
  const until = async (event: string) => await unlessAborted(Promise.race([once(file, event), failed]), signal)
  for await (const { text, lines } of blocks) {
    const bytes = Buffer.from(text)
    count.bytes += bytes.length
    count.memories += lines
    progress.update(count.memories)
    if (!file.write(bytes)) await until('drain')
  }
  file.end()
  await until('close')
  progress.end()
  return { ...count, memories: Math.max(0, count.memories) }
}
