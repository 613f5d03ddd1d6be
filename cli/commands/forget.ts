import { numberOf, textsOf } from '../answers.js'
import { Questions } from '../ask.js'
import { CommandError, usageError } from '../failures.js'
import { note, writeJson, writeLine } from '../output.js'
import { present, withServer, type ServerOptions } from '../server-command.js'

export interface ForgetOptions extends ServerOptions {
  id?: string[]
  tag?: string[]
  tagsMatch?: string
  all?: boolean
  dryRun?: boolean
  yes?: boolean
}

/** Writes the ids of what was deleted, or with --dry-run would be. */
export async function forget (bank: string, options: ForgetOptions): Promise<void> {
  const { id, tag, tagsMatch, all = false, dryRun = false, yes = false, json = false } = options
  if ([id !== undefined, tag !== undefined, all].filter(Boolean).length !== 1) throw usageError('say what is to be deleted, by one of --id, --tag and --all')
  if (tagsMatch !== undefined && tag === undefined) throw usageError('--tags-match is for --tag')
  await withServer(options, async (server) => {
    if (all && !dryRun && !yes) await confirm(bank)
    const answer = await server.forget(present({
      bank_id: bank, memory_ids: id, tags: tag, tags_match: tagsMatch, ...(all && { scope: 'all' }), ...(dryRun && { dry_run: true }),
    }))
    if (json) return await writeJson(answer)
    for (const memoryId of textsOf(answer['memory_ids'])) await writeLine(memoryId)
    const count = numberOf(answer['deleted_count']) ?? 0
    note(`${count} ${count === 1 ? 'memory' : 'memories'} ${dryRun ? 'would be deleted' : 'deleted'}`)
  })
}

async function confirm (bank: string): Promise<void> {
  if (!process.stdin.isTTY) throw usageError('--all deletes the whole bank; say --yes where nobody can be asked')
  const questions = new Questions()
  try {
    const answer = await questions.ask(`All memories of ${bank} are deleted. Write the bank's name to go on: `)
    if (answer !== bank) throw new CommandError('nothing was deleted')
  } finally {
    questions.close()
  }
}
