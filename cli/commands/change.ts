import { withoutUndefined } from '../../lib/base/members.js'
import { usageError } from '../failures.js'
import { note, writeJson, writeLine } from '../output.js'
import { withServer, type ServerOptions } from '../server-command.js'

interface EditOptions extends ServerOptions {
  content?: string
  tag?: string[]
  key?: string
  validFrom?: string
  validUntil?: string
  reason?: string
  ifVersion?: number
}

interface NoteOptions extends ServerOptions {
  note?: string
}

interface RetireOptions extends NoteOptions {
  reason: 'superseded' | 'invalidated' | 'other'
  by?: string
}

/** Writes the id of the memory, and tells its version. */
async function report (
  { json = false }: ServerOptions, memory: { memory_id: string, version: number, state: string },
): Promise<void> {
  if (json) return await writeJson(memory)
  await writeLine(memory.memory_id)
  note(`version ${memory.version}, ${memory.state}`)
}

export async function edit (bank: string, memory: string, options: EditOptions): Promise<void> {
  const { content, tag: tags, key, validFrom, validUntil, reason, ifVersion } = options
  const patch = withoutUndefined({ content, tags, key, valid_from: validFrom, valid_until: validUntil })
  if (Object.keys(patch).length === 0) {
    throw usageError('choose what to change: --content, --tag, --key, --valid-from or --valid-until')
  }
  await withServer(options, async (gateway, call) => {
    await report(options, await gateway.patchMemory({
      bank_id: bank,
      memory_id: memory,
      if_match: ifVersion === undefined ? undefined : `"${ifVersion}"`,
      patch: { ...patch, ...withoutUndefined({ reason }) },
    }, call))
  })
}

export async function retire (bank: string, memory: string, options: RetireOptions): Promise<void> {
  const { reason, by, note: told } = options
  await withServer(options, async (gateway, call) => {
    await report(options, await gateway.retireMemory({
      bank_id: bank, memory_id: memory, reason, ...withoutUndefined({ by, note: told }),
    }, call))
  })
}

export async function restore (bank: string, memory: string, options: NoteOptions): Promise<void> {
  await withServer(options, async (gateway, call) => {
    await report(options, await gateway.restoreMemory({
      bank_id: bank, memory_id: memory, ...withoutUndefined({ note: options.note }),
    }, call))
  })
}

/** A line for each version: its number, state, time, who and why, then what it says. */
export async function versions (bank: string, memory: string, options: ServerOptions): Promise<void> {
  await withServer(options, async (gateway, call) => {
    const { versions: found } = await gateway.listVersions({ bank_id: bank, memory_id: memory }, call)
    if (options.json === true) return await writeJson(found)
    for (const { version, state, content, changed_at: at, changed_by: by, reason, redacted } of found) {
      const made = [at, by ?? 'anonymous', ...reason === null ? [] : [reason]].join(', ')
      await writeLine(`${version} ${state} (${made}): ${redacted ? '(redacted)' : content.replaceAll('\n', ' ')}`)
    }
  })
}

export async function rollback (
  bank: string, to: string, options: ServerOptions & { dryRun?: boolean },
): Promise<void> {
  const { dryRun = false, json = false } = options
  await withServer(options, async (gateway, call) => {
    const answer = await gateway.rollbackBank({ bank_id: bank, to, ...dryRun && { dry_run: true } }, call)
    if (json) return await writeJson(answer)
    const { restored, retired, unrecoverable } = answer
    const would = dryRun ? 'would be ' : ''
    await writeLine(`${restored} ${would}restored, ${retired} ${would}retired, ${unrecoverable} cannot be recovered`)
  })
}
