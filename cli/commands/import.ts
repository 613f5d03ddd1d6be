import { unlessAborted } from '../../lib/concurrency/aborting.js'
import type { ImportBankAnswer, MemoryGatewayClient } from '../../packages/client/src/index.js'
import { CommandError, EXIT, usageError } from '../failures.js'
import { BatchSize, exportItems, importLines, openInput, type ImportBatch } from '../import-lines.js'
import { Rejections, sendBatch } from '../import-rejections.js'
import { adviceOnProduct, foreignItems } from '../import-from/items.js'
import { note, writeJson } from '../output.js'
import { interrupted, untilAborted } from '../interrupt.js'
import { Progress } from '../progress.js'
import type { Call } from '../gateway.js'
import { withServer, type ServerOptions } from '../server-command.js'

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
    const progress = new Progress('import')
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
        progress.update(input.total === undefined ? doneOf(counts) : input.position(), input.total)
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
