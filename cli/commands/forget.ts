import type { ForgetRequest } from '../../packages/client/src/index.js'
import { Questions } from '../ask.js'
import { CommandError, usageError } from '../failures.js'
import { note, writeJson, writeLine } from '../output.js'
import { withServer, type ServerOptions, type TagsMatch } from '../server-command.js'
import { withoutUndefined } from '../../lib/validation/members.js'

interface ForgetOptions extends ServerOptions {
  id?: string[]
  tag?: string[]
  tagsMatch?: TagsMatch
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
    note(`${count} ${count === 1 ? 'memory' : 'memories'} ${dryRun ? 'would be deleted' : 'deleted'}`)
  })
}

/** @throws CommandError unless exactly one option chooses what is deleted */
function requestOf (bank: string, { id, tag, tagsMatch, all = false, dryRun = false }: ForgetOptions): ForgetRequest {
  if (tagsMatch !== undefined && tag === undefined) throw usageError('--tags-match requires --tag')
  const common = withoutUndefined({ bank_id: bank, dry_run: dryRun ? true : undefined })
  if (id !== undefined && tag === undefined && !all) return { ...common, memory_ids: id }
  if (id === undefined && tag !== undefined && !all) {
    return withoutUndefined({ ...common, tags: tag, tags_match: tagsMatch })
  }
  if (id === undefined && tag === undefined && all) return { ...common, scope: 'all' }
  throw usageError('choose what to delete with one of --id, --tag and --all')
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
