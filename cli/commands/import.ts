import { unlessAborted } from '../../lib/concurrency/aborting.js'
import { MemoryGatewayError, type ImportBankAnswer, type MemoryGatewayClient } from '../../packages/client/src/index.js'
import { CommandError, EXIT, usageError } from '../failures.js'
import { importLines, openInput, type ImportBatch } from '../import-lines.js'
import { exportItems } from '../import-export.js'
import { foreignItems } from '../import-from/items.js'
import { note, writeJson } from '../output.js'
import { interrupted, untilAborted } from '../interrupt.js'
import { Progress } from '../progress.js'
import type { Call } from '../gateway.js'
import { withServer, type ServerOptions } from '../server-command.js'

export interface ImportCommandOptions extends ServerOptions {
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

/** Memories stored so far. */
interface Counts {
  imported: number
  skipped: number
  overwritten: number
}

/**
 * Imports a file in batches, one after the other; each is stored completely or not at all. Memories that already exist
 * are skipped, so repeating the command resumes an interrupted import.
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
      ? exportItems(input.lines, input.name)
      : foreignItems(from, input.lines, input.name)
    const content = await unlessAborted(reading, call.signal)
    const { withoutText } = content
    if (withoutText > 0) note(`entries without text, such as images or calls of tools, are left out: ${withoutText}`)
    const counts: Counts = { imported: 0, skipped: 0, overwritten: 0 }
    const progress = new Progress('import')
    try {
      let isFirst = true
      for await (const batch of untilAborted(importLines(content), call.signal)) {
        const answer = await sendBatch(
          gateway, bank, batch, { on_conflict: onConflict, config: isFirst ? config : 'ignore' }, call,
        )
        add(counts, answer)
        progress.update(input.total === undefined ? doneOf(counts) : input.position(), input.total)
        isFirst = false
      }
      progress.end()
    } catch (error) {
      progress.end()
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
  })
}

async function sendBatch (
  gateway: MemoryGatewayClient, bank: string, { body, places }: ImportBatch, choices: ImportChoices, call: Call,
): Promise<ImportBankAnswer> {
  try {
    return await gateway.importBank({ bank_id: bank, lines: body, ...choices }, { ...call, timeoutMs: TIMEOUT_MS })
  } catch (error) {
    if (!(error instanceof MemoryGatewayError)) throw error
    // The server counts lines within the batch, from its header on.
    const message = error.message.replaceAll(/\b[Ll]ine (\d+)/g, (found, line: string) => (
      places[Number(line) - 1] ?? found
    ))
    throw new MemoryGatewayError(error.code, message, error)
  }
}

function add (counts: Counts, answer: ImportBankAnswer): void {
  for (const key of ['imported', 'skipped', 'overwritten'] as const) counts[key] += answer[key]
}

function doneOf ({ imported, skipped, overwritten }: Counts): number {
  return imported + skipped + overwritten
}

function summaryOf ({ imported, skipped, overwritten }: Counts): string {
  return `${imported} imported, ${skipped} already stored or ` +
    `expired${overwritten > 0 ? `, ${overwritten} overwritten` : ''}`
}
