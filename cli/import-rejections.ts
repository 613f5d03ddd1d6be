import { MemoryGatewayError } from '../packages/client/src/index.js'
import type { ImportBatch, ImportItem } from './import-lines.js'
import { note, printable } from './output.js'

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
    // The messages may quote the source.
    for (const line of this.#reported) note(`rejected: ${printable(line)}`)
    if (this.#count > MAX_REPORTED) note(`rejected: ${this.#count - MAX_REPORTED} more`)
  }
}

/**
 * Sends a batch, and if the server rejects a memory of it, sends the others without that one. The server stops at the
 * first such memory, so those before it are sent together; those behind it are halved, so that a batch of nothing but
 * rejected memories is not sent once for each.
 * @param send stores a batch completely or not at all
 * @throws what `send` throws, unless it names a memory
 */
export async function sendAccepted (
  batch: ImportBatch, send: (batch: ImportBatch) => Promise<void>, rejections: Rejections,
): Promise<void> {
  const rejected = await send(batch).then(() => undefined, (error: unknown) => {
    const line = lineOf(error, batch)
    if (line === undefined) throw error
    return line
  })
  if (rejected === undefined) return
  const { at, item, reason } = rejected
  rejections.add(item.place, reason)
  const half = Math.ceil((at + 1 + batch.length) / 2)
  for (const memories of [batch.slice(1, at), batch.slice(at + 1, half), batch.slice(half)]) {
    if (memories.length > 0) await sendAccepted([...batch.slice(0, 1), ...memories], send, rejections)
  }
}

/** The memory because of which the server refuses the batch; undefined when it refuses it for another reason. */
function lineOf (error: unknown, batch: ImportBatch): { at: number, item: ImportItem, reason: string } | undefined {
  if (!(error instanceof MemoryGatewayError) || !STATUSES.has(error.status)) return undefined
  const [found, number] = /^line (\d+):? ?/i.exec(error.message) ?? ['', '']
  const at = Number(number) - 1
  const item = at > 0 ? batch[at] : undefined
  return item === undefined ? undefined : { at, item, reason: error.message.slice(found.length) }
}
