import { MemoryGatewayError } from '../packages/client/src/index.js'
import type { BatchSize, ImportBatch, ImportItem } from './import-lines.js'
import { note } from './output.js'

/** Rejected memories that are reported one by one; the rest is only counted. */
const MAX_REPORTED = 20
/** Characters of the reason that are shown of each. */
const MAX_REASON = 300
/** Statuses of a request that the server would refuse again, because of what is in it. */
const STATUSES: ReadonlySet<number | undefined> = new Set([400, 413, 422])

/** The memories of an import that the server rejects. */
export class Rejections {
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
    const half = Math.ceil((batch.length + 1) / 2)
    await sendParts(batch, [batch.slice(1, half), batch.slice(half)], sending)
  } else {
    throw withPlaces(refusal, batch)
  }
}

async function sendParts ([header]: ImportBatch, parts: readonly ImportBatch[], sending: Sending): Promise<void> {
  for (const memories of parts) if (memories.length > 0) await sendBatch([header!, ...memories], sending)
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
