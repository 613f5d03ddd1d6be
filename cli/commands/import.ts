import { unlessAborted } from '../../lib/base/aborting.js'
import { type ImportBankAnswer, type MemoryGatewayClient, MemoryGatewayError } from '../../packages/client/src/index.js'
import { CommandError, EXIT, usageError } from '../failures.js'
import type { Call } from '../gateway.js'
import { adviceOnProduct, foreignItems } from '../import-from/items.js'
import {
  BatchSize, exportItems, type ImportBatch, type ImportItem, importLines, isEarlierVersion, openInput,
} from '../import-lines.js'
import { interrupted, untilAborted } from '../interrupt.js'
import { note, writeJson } from '../output.js'
import { Progress } from '../progress.js'
import { type ServerOptions, withServer } from '../server-command.js'

/** Rejected memories that are reported one by one; the rest is only counted. */
const MAX_REPORTED = 20
/** Characters of the reason that are shown of each. */
const MAX_REASON = 300
/** Statuses of a request that the server would refuse again, because of what is in it. */
const STATUSES: ReadonlySet<number | undefined> = new Set([400, 413, 422])

/** The memories of an import that the server rejects. */
class Rejections {
  readonly #reported: string[] = []
  #count = 0

  get count (): number {
    return this.#count
  }

  add (place: string, reason: string): void {
    this.#count++
    if (this.#reported.length === MAX_REPORTED) return
    this.#reported.push(`${place}: ${reason.length > MAX_REASON ? `${reason.slice(0, MAX_REASON)}…` : reason}`)
  }

  /** Writes them to standard error. */
  report (): void {
    if (this.#count === 0) return
    for (const line of this.#reported) note(`rejected: ${line}`)
    if (this.#count > MAX_REPORTED) note(`rejected: ${this.#count - MAX_REPORTED} more`)
  }
}

/** What sending a batch needs. */
export interface Sending {
  /** Stores a batch completely or not at all. */
  send: (batch: ImportBatch) => Promise<void>
  size: BatchSize
  /** Absent when an import ends at the first rejected memory. */
  rejections?: Rejections | undefined
}

/**
 * Sends a batch, and if the server rejects a memory of it, sends the others without that one. The server stops at the
 * first such memory, so those before it are sent together; those behind it are halved, so that a batch of nothing but
 * rejected memories is not sent once for each. A batch that is larger than a bound of the server or a limit of the bank
 * is halved, too.
 * @throws what `send` throws for another reason, with places of the source in its message
 */
export async function sendBatch (batch: ImportBatch, sending: Sending): Promise<void> {
  const { send, size, rejections } = sending
  const refusal = await send(batch).then(() => undefined, (error: unknown) => {
    if (error instanceof MemoryGatewayError) return error
    throw error
  })
  if (refusal === undefined) return
  const rejected = rejections === undefined ? undefined : rejectedMemory(refusal, batch)
  if (rejected !== undefined) {
    const { at, item, reason } = rejected
    rejections!.add(item.place, reason)
    const half = Math.ceil((at + 1 + batch.length) / 2)
    await sendParts(batch, [batch.slice(1, at), batch.slice(at + 1, half), batch.slice(half)], sending)
  } else if (batch.length > 2 && isTooLarge(refusal)) {
    size.lower(batch)
    const half = cutAt(batch, Math.ceil((batch.length + 1) / 2))
    if (half === undefined) throw withPlaces(refusal, batch)
    await sendParts(batch, [batch.slice(1, half), batch.slice(half)], sending)
  } else {
    throw withPlaces(refusal, batch)
  }
}

async function sendParts ([header]: ImportBatch, parts: readonly ImportBatch[], sending: Sending): Promise<void> {
  for (const memories of parts) if (memories.length > 0) await sendBatch([header!, ...memories], sending)
}

/** The place nearest to the middle where a part can begin: a memory is not parted from its versions. */
function cutAt (batch: ImportBatch, middle: number): number | undefined {
  const isStart = (at: number) => at > 1 && at < batch.length && !isEarlierVersion(batch[at]!)
  for (let distance = 0; distance < batch.length; distance++) {
    const found = [middle + distance, middle - distance].find(isStart)
    if (found !== undefined) return found
  }
  return undefined
}

/** Whether fewer memories at once may be accepted: because of a bound of the server, or `import_per_minute`. */
function isTooLarge ({ status, message }: MemoryGatewayError): boolean {
  return status === 413 || (status === 400 && message.endsWith('; split it'))
}

/** The server counts lines within the batch, from its header on. */
function withPlaces (error: MemoryGatewayError, batch: ImportBatch): MemoryGatewayError {
  const message = error.message.replaceAll(/\b[Ll]ine (\d+)/g, (found, line: string) => (
    batch[Number(line) - 1]?.place ?? found
  ))
  const isOfOne = batch.length === 2 && isTooLarge(error)
  return new MemoryGatewayError(error.code, isOfOne ? `${batch[1]!.place}: ${message}` : message, error)
}

/** The memory because of which the server refuses the batch; undefined when it refuses it for another reason. */
function rejectedMemory (
  { status, message }: MemoryGatewayError, batch: ImportBatch,
): { at: number, item: ImportItem, reason: string } | undefined {
  if (batch.length === 2 && status === 413) return { at: 1, item: batch[1]!, reason: message }
  if (!STATUSES.has(status)) return undefined
  const [found, number] = /^line (\d+):? ?/i.exec(message) ?? ['', '']
  const at = Number(number) - 1
  const item = at > 0 ? batch[at] : undefined
  return item === undefined ? undefined : { at, item, reason: message.slice(found.length) }
}

interface ImportCommandOptions extends ServerOptions {
  onConflict: 'skip' | 'overwrite'
  config: 'ignore' | 'apply'
  /** The product that wrote the export; absent for an export of a gateway. */
  from?: string
}

/** Milliseconds for one batch with all attempts: vectors of many memories take long, and rate limits add waits. */
const TIMEOUT_MS = 600_000

interface ImportChoices {
  on_conflict: 'skip' | 'overwrite'
  config: 'ignore' | 'apply'
}

/** What has become of the memories so far. */
interface Counts {
  imported: number
  skipped: number
  overwritten: number
  rejected: number
}

/**
 * Imports a file in batches, one after the other; each is stored completely or not at all. Memories that already exist
 * are skipped, so repeating the command resumes an interrupted import. An export of a gateway ends at a line that the
 * server rejects, because it can be corrected. One of another product cannot, so all its other memories are stored.
 */
export async function importBank (
  bank: string, file: string | undefined, options: ImportCommandOptions,
): Promise<void> {
  const { onConflict, config, from, json = false } = options
  if (from !== undefined && config === 'apply') {
    throw usageError('--config apply requires an export of a memory gateway: no other contains a configuration')
  }
  const input = await openInput(file)
  await withServer(options, async (gateway, call) => {
    const reading = from === undefined
      ? exportItems(input.lines, input.name, adviceOnProduct)
      : foreignItems(from, input.lines, input.name)
    const content = await unlessAborted(reading, call.signal)
    const { withoutText } = content
    if (withoutText > 0) note(`entries without text, such as images or calls of tools, are left out: ${withoutText}`)
    const counts: Counts = { imported: 0, skipped: 0, overwritten: 0, rejected: 0 }
    const rejections = new Rejections()
    const progress = new Progress(input.total === undefined ? 'import' : 'import bytes')
    const startedAt = performance.now()
    try {
      let isFirst = true
      const size = new BatchSize()
      const send = async (batch: ImportBatch) => {
        const choices = { on_conflict: onConflict, config: isFirst ? config : 'ignore' } as const
        add(counts, await sendLines(gateway, bank, batch, choices, call))
        isFirst = false
      }
      for await (const batch of untilAborted(importLines(content, size), call.signal)) {
        await sendBatch(batch, { send, size, rejections: from === undefined ? undefined : rejections })
        counts.rejected = rejections.count
        const done = doneOf(counts)
        const rate = `${Math.round(done / (performance.now() - startedAt) * 1000)} memories/s`
        if (input.total === undefined) progress.update(done, undefined, `, ${rate}`)
        else progress.update(input.position(), input.total, `, ${done} memories, ${rate}`)
      }
      progress.end()
      rejections.report()
    } catch (error) {
      progress.end()
      rejections.report()
      counts.rejected = rejections.count
      const reason: unknown = call.signal.reason
      if (reason instanceof CommandError && reason.exitCode === EXIT.interrupted) {
        throw interrupted(`interrupted: ${summaryOf(counts)}; the same command continues from here`)
      }
      if (doneOf(counts) > 0) note(`${summaryOf(counts)} before the error; the same command continues from here`)
      throw error
    } finally {
      input.close()
    }
    if (json) await writeJson(counts)
    else note(summaryOf(counts))
    if (counts.rejected > 0) throw new CommandError(`rejected memories: ${counts.rejected}`)
  })
}

async function sendLines (
  gateway: MemoryGatewayClient, bank: string, batch: ImportBatch, choices: ImportChoices, call: Call,
): Promise<ImportBankAnswer> {
  const lines = `${batch.map(({ json }) => json).join('\n')}\n`
  return await gateway.importBank({ bank_id: bank, lines, ...choices }, { ...call, timeoutMs: TIMEOUT_MS })
}

function add (counts: Counts, answer: ImportBankAnswer): void {
  for (const key of ['imported', 'skipped', 'overwritten'] as const) counts[key] += answer[key]
}

function doneOf ({ imported, skipped, overwritten, rejected }: Counts): number {
  return imported + skipped + overwritten + rejected
}

function summaryOf ({ imported, skipped, overwritten, rejected }: Counts): string {
  return `${imported} imported, ${skipped} already stored or expired` +
    `${overwritten > 0 ? `, ${overwritten} overwritten` : ''}${rejected > 0 ? `, ${rejected} rejected` : ''}`
}
