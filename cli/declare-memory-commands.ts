import { Option, type Command } from 'commander'
import { collect, integer, pair, share } from './option-values.js'

const BANK = 'name of the bank'

/** Adds the options of every command that calls a server. */
function ofServer (command: Command): Command {
  return command
    .option('--profile <name>', 'profile with the server and the credentials (default: MEMORY_GATEWAY_PROFILE, else default)')
    .option('--json', 'write JSON')
}

/** Adds the filters of memories. */
function filtered (command: Command): Command {
  return command
    .option('--tag <tag>', 'only memories with this tag; may be repeated', collect)
    .addOption(new Option('--tags-match <how>', 'whether one of several tags suffices').choices(['any', 'all']))
    .option('--occurred-after <time>', 'only memories of things from this time on (RFC 3339)')
    .option('--occurred-before <time>', 'only memories of things before this time')
}

/** The commands that call a server over HTTP. */
export function declareMemoryCommands (program: Command): void {
  ofServer(program.command('banks').description('list the banks that you may read'))
    .action(async (options) => { await (await import('./commands/banks.js')).banks(options) })

  ofServer(program.command('retain').description('store a memory'))
    .argument('<bank>', BANK)
    .argument('[text]', 'the text; without it, or with -, standard input is read')
    .option('--tag <tag>', 'tag of the memory; may be repeated', collect)
    .option('--metadata <name=value>', 'metadata of the memory; may be repeated', pair)
    .option('--occurred-at <time>', 'when what it tells happened (RFC 3339)')
    .option('--expires-at <time>', 'when it ceases to exist')
    .option('--document-id <id>', 'the document or conversation that it is a part of')
    .option('--source <name>', 'where it comes from')
    .action(async (bank, text, options) => { await (await import('./commands/retain.js')).retain(bank, text, options) })

  filtered(ofServer(program.command('recall').description('search memories')))
    .argument('<bank>', `${BANK}; several with commas between them are searched in one ranking`)
    .argument('<query>', 'what is looked for')
    .option('--max-results <number>', 'hits at most (default: 10)', integer(1, 1000))
    .option('--max-tokens <number>', 'tokens of all hits together', integer(1))
    .option('--min-score <number>', 'leave out hits of a lower score', share)
    .option('--as-of <time>', 'only memories stored by then')
    .option('--explain', 'show rank and score of each strategy, and the time of each stage')
    .action(async (bank, query, options) => { await (await import('./commands/recall.js')).recall(bank, query, options) })

  filtered(ofServer(program.command('reflect').description('answer a question from memories; the answer is shown as it comes')))
    .argument('<bank>', `${BANK}; several with commas between them are searched together`)
    .argument('<question>', 'the question')
    .option('--max-tokens <number>', 'tokens of the answer at most', integer(1))
    .option('--instructions <text>', 'wishes for tone, length and language of the answer')
    .option('--no-sources', 'leave out the memories that the answer rests on')
    .action(async (bank, question, options) => { await (await import('./commands/reflect.js')).reflect(bank, question, options) })

  ofServer(program.command('forget').description('delete memories'))
    .argument('<bank>', BANK)
    .option('--id <memory>', 'id of a memory; may be repeated', collect)
    .option('--tag <tag>', 'memories with this tag; may be repeated', collect)
    .addOption(new Option('--tags-match <how>', 'whether one of several tags suffices').choices(['any', 'all']))
    .option('--all', 'the whole bank')
    .option('--dry-run', 'count and delete nothing')
    .option('--yes', 'do not ask before the whole bank is deleted')
    .action(async (bank, options) => { await (await import('./commands/forget.js')).forget(bank, options) })

  ofServer(program.command('export').description('write a bank as NDJSON'))
    .argument('<bank>', BANK)
    .option('-o, --output <file>', 'file to write; it appears when it is complete (default: standard output)')
    .action(async (bank, options) => { await (await import('./commands/export.js')).exportBank(bank, options) })

  ofServer(program.command('import').description('read an export back; run again after an interruption, it stores nothing twice'))
    .argument('<bank>', BANK)
    .argument('[file]', 'the export; without it, or with -, standard input is read')
    .addOption(new Option('--from <product>', 'whose export it is, when it is not one of a memory gateway')
      .choices(['hindsight', 'mem0', 'langgraph', 'claude', 'chatgpt']))
    .addOption(new Option('--on-conflict <how>', 'what happens to a memory that stands already').choices(['skip', 'overwrite']).default('skip'))
    .addOption(new Option('--config <how>', 'whether the configuration in the export takes the place of the bank\'s').choices(['ignore', 'apply']).default('ignore'))
    .action(async (bank, file, options) => { await (await import('./commands/import.js')).importBank(bank, file, options) })
}
