import type { ForgetRequest } from '../../packages/client/src/index.js'
import { Questions } from '../ask.js'
import { CommandError, usageError } from '../failures.js'
import { note, writeJson, writeLine } from '../output.js'
import { conditionsOf, withServer, type ConditionOptions, type ServerOptions } from '../server-command.js'
import { withoutUndefined } from '../../lib/base/members.js'

interface ForgetOptions extends ServerOptions, ConditionOptions {
  id?: string[]
  retainedAfter?: string
  retainedBefore?: string
  all?: boolean
  dryRun?: boolean
  yes?: boolean
}

/** Writes the ids of the memories that were deleted, or with --dry-run would be. */
export async function forget (bank: string, options: ForgetOptions): Promise<void> {
  const { all = false, dryRun = false, yes = false, json = false } = options
  const request = requestOf(bank, options)
  await withServer(options, async (gateway, call) => {
    if (all && !dryRun && !yes) await confirm(bank)
    const { memory_ids: ids, deleted_count: count, ...rest } = await gateway.forget(request, call)
    if (json) return await writeJson({ deleted_count: count, memory_ids: ids, ...rest })
    for (const memoryId of ids) await writeLine(memoryId)
    for (const memory of rest.sample ?? []) {
      note(`${memory.memory_id}: ${memory.text.replaceAll('\n', ' ')}`)
    }
    note(`${count} ${count === 1 ? 'memory' : 'memories'} ${dryRun ? 'would be deleted' : 'deleted'}`)
  })
}

/** @throws CommandError unless there are ids, filters or --all, and only one of these */
function requestOf (bank: string, options: ForgetOptions): ForgetRequest {
  const { id, all = false, dryRun = false, retainedAfter, retainedBefore } = options
  if (options.tagsMatch !== undefined && options.tag === undefined) throw usageError('--tags-match requires --tag')
  const common = withoutUndefined({ bank_id: bank, dry_run: dryRun ? true : undefined })
  const filters = {
    ...conditionsOf(options),
    ...withoutUndefined({ retained_after: retainedAfter, retained_before: retainedBefore }),
  }
  const filtered = { ...common, ...filters }
  const isFiltered = hasFilter(filtered)
  if (isFiltered && id === undefined && !all) return filtered
  if (!isFiltered && id !== undefined && !all) return { ...common, memory_ids: id }
  if (!isFiltered && id === undefined && all) return { ...common, scope: 'all' }
  throw usageError('choose what to delete: by --id, by filters such as --tag and --document, or --all')
}

/** A request with a filter is complete: it needs no ids. */
function hasFilter (request: { bank_id: string, dry_run?: boolean }): request is ForgetRequest {
  return Object.keys(request).some((name) => name !== 'bank_id' && name !== 'dry_run')
}

async function confirm (bank: string): Promise<void> {
  if (!process.stdin.isTTY) {
    throw usageError('--all deletes the whole bank; use --yes where there is no terminal to confirm it')
  }
  const questions = new Questions()
  try {
    const answer = await questions.ask(`This deletes all memories of ${bank}. Type the name of the bank to continue: `)
    if (answer !== bank) throw new CommandError('nothing was deleted')
  } finally {
    questions.close()
  }
}
