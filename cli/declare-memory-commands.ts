import { Option, type Command } from 'commander'
import { TRUST_LEVELS } from '../lib/access/trust.js'
import { RESULTS } from '../lib/operations/schemas/ranges.js'
import { collect, integer, pair, share } from './option-values.js'

const BANK = 'name of the bank'
const MEMORY = 'id of the memory'
const CONVERSATION = 'id of the conversation'

/** Adds the options of every command that calls a server. */
function ofServer (command: Command): Command {
  return command
    .option('--profile <name>', 'profile with the server and the credentials (default: MEMORY_GATEWAY_PROFILE, ' +
      'else default)')
    .option('--json', 'write JSON')
}

/** Adds the filters of memories that a search and a forget have. */
function withConditions (command: Command): Command {
  return command
    .option('--tag <tag>', 'only memories with this tag; may be repeated', collect)
    .addOption(new Option(
      '--tags-match <how>', 'whether a memory must have any or all of several tags',
    ).choices(['any', 'all']))
    .option('--document <id>', 'only memories of this document or conversation; may be repeated', collect)
    .option('--metadata <name=value>', 'only memories with this metadata; may be repeated, and all must match; a ' +
      'text that looks like a number is written in double quotes', pair)
    .option('--speaker <name>', 'only memories that this speaker said: user, assistant or a whole name, in any case; ' +
      'may be repeated', collect)
    .option('--occurred-after <time>', 'only memories of events at or after this time (RFC 3339)')
    .option('--occurred-before <time>', 'only memories of events before this time')
}

/** Adds the filters of a search, and the time to which the query refers. */
function filtered (command: Command): Command {
  return withConditions(command)
    .option('--as-of <time>', 'the bank as it was stored at this time')
    .addOption(new Option('--state <which>', 'current memories, superseded and retired ones, or all (default: current)')
      .choices(['current', 'history', 'all']))
    .option('--valid-at <time>', 'only memories that are valid in the world at this time, as far as it is told')
    .addOption(new Option('--min-trust <level>', 'only memories with at least this level of trust')
      .choices([...TRUST_LEVELS]))
    .option('--reference-time <time>', 'time to which words such as "yesterday" in the query refer (default: now)')
}

/** The commands that call a server over HTTP. */
export function declareMemoryCommands (program: Command): void {
  ofServer(program.command('banks').description('list the banks that you may read'))
    .action(async (options) => { await (await import('./commands/banks.js')).banks(options) })

  ofServer(program.command('retain').description('store a memory'))
    .argument('<bank>', BANK)
    .argument('[text]', 'the text; without it, or with -, standard input is read')
    .option('--tag <tag>', 'tag of the memory; may be repeated', collect)
    .option('--metadata <name=value>', 'metadata of the memory; may be repeated; a text that looks like a number is ' +
      'written in double quotes', pair)
    .option('--occurred-at <time>', 'when the event that it describes happened (RFC 3339)')
    .option('--expires-at <time>', 'when the memory expires')
    .option('--document-id <id>', 'document or conversation that the memory belongs to')
    .option('--source <name>', 'where the memory comes from')
    .option('--speaker <name>', 'who said it: user, assistant or a name')
    .option('--key <key>', 'slot such as ada/employer; the memory that stands under it is superseded')
    .option('--supersedes <memory>', 'id of a memory whose place it takes; may be repeated', collect)
    .option('--valid-from <time>', 'since when it is so in the world')
    .option('--valid-until <time>', 'until when it is so in the world')
    .action(async (bank, text, options) => { await (await import('./commands/retain.js')).retain(bank, text, options) })

  filtered(ofServer(program.command('recall').description('search memories')))
    .argument('<bank>', `${BANK}; several with commas between them are searched in one ranking`)
    .argument('<query>', 'what to search for')
    .option('--max-results <number>', `maximum number of hits (default: ${RESULTS.default})`,
      integer(RESULTS.min, RESULTS.max))
    .option('--max-tokens <number>', 'maximum number of tokens of all hits together', integer(1))
    .option('--min-score <number>', 'leave out hits with a lower score', share)
    .option('--explain', 'show rank and score of each strategy, and the time of each stage')
    .action(async (bank, query, options) => {
      await (await import('./commands/recall.js')).recall(bank, query, options)
    })

  filtered(ofServer(program.command('reflect').description('answer a question from memories; the answer is shown ' +
    'as it arrives')))
    .argument('<bank>', `${BANK}; several with commas between them are searched together`)
    .argument('<question>', 'the question')
    .option('--max-tokens <number>', 'maximum number of tokens of the answer', integer(1))
    .option('--instructions <text>', 'wishes for tone, length and language of the answer')
    .option('--no-sources', 'do not show the memories that the answer cites')
    .action(async (bank, question, options) => {
      await (await import('./commands/reflect.js')).reflect(bank, question, options)
    })

  withConditions(ofServer(program.command('forget').description('delete memories: those with the ids, those that ' +
    'pass every filter, or all')))
    .argument('<bank>', BANK)
    .option('--retained-after <time>', 'only memories stored at or after this time')
    .option('--retained-before <time>', 'only memories stored before this time')
    .option('--id <memory>', 'delete the memory with this id; may be repeated', collect)
    .option('--all', 'delete the whole bank')
    .option('--dry-run', 'show what would be deleted, and delete nothing')
    .option('--yes', 'do not ask for confirmation before the whole bank is deleted')
    .action(async (bank, options) => { await (await import('./commands/forget.js')).forget(bank, options) })

  ofServer(program.command('edit').description('correct a memory; the version before it is kept'))
    .argument('<bank>', BANK)
    .argument('<memory>', MEMORY)
    .option('--content <text>', 'the new text')
    .option('--tag <tag>', 'tag in place of those that it has; may be repeated', collect)
    .option('--key <key>', 'slot such as ada/employer')
    .option('--valid-from <time>', 'since when it is so in the world')
    .option('--valid-until <time>', 'until when it is so in the world')
    .option('--reason <text>', 'why, for readers of its versions')
    .option('--if-version <number>', 'only when it is of this version', integer(1))
    .action(async (bank, memory, options) => {
      await (await import('./commands/change.js')).edit(bank, memory, options)
    })

  ofServer(program.command('retire').description('take a memory back without deleting it'))
    .argument('<bank>', BANK)
    .argument('<memory>', MEMORY)
    .addOption(new Option('--reason <reason>', 'superseded: it is so no more; invalidated: it was never so')
      .choices(['superseded', 'invalidated', 'other']).default('other'))
    .option('--by <memory>', 'with the reason superseded, the id of the memory that took its place')
    .option('--note <text>', 'for readers of its versions')
    .action(async (bank, memory, options) => {
      await (await import('./commands/change.js')).retire(bank, memory, options)
    })

  ofServer(program.command('restore').description('make a superseded or retired memory current again'))
    .argument('<bank>', BANK)
    .argument('<memory>', MEMORY)
    .option('--note <text>', 'for readers of its versions')
    .action(async (bank, memory, options) => {
      await (await import('./commands/change.js')).restore(bank, memory, options)
    })

  ofServer(program.command('versions').description('show the versions of a memory, the last one first'))
    .argument('<bank>', BANK)
    .argument('<memory>', MEMORY)
    .action(async (bank, memory, options) => {
      await (await import('./commands/change.js')).versions(bank, memory, options)
    })

  ofServer(program.command('rollback').description('set a bank back to a time; nothing is deleted'))
    .argument('<bank>', BANK)
    .argument('<time>', 'the time (RFC 3339)')
    .option('--dry-run', 'show what would change, and change nothing')
    .action(async (bank, time, options) => {
      await (await import('./commands/change.js')).rollback(bank, time, options)
    })

  declareProposals(program.command('proposals').description('what a later memory may supersede: list it, and decide'))
  declareConversations(program.command('conversations').description('list, show, append to and delete conversations'))

  ofServer(program.command('export').description('write a bank as NDJSON'))
    .argument('<bank>', BANK)
    .option('--versions', 'also superseded and retired memories, and earlier versions')
    .option('-o, --output <file>', 'file to write; it appears when it is complete (default: standard output)')
    .action(async (bank, options) => { await (await import('./commands/export.js')).exportBank(bank, options) })

  ofServer(program.command('import').description('import an export; safe to repeat after an interruption, because ' +
    'nothing is stored twice'))
    .argument('<bank>', BANK)
    .argument('[file]', 'the export; without it, or with -, standard input is read')
    .addOption(new Option('--from <product>', 'product that wrote the export, if it is not a memory gateway')
      .choices(['hindsight', 'mem0', 'langgraph', 'claude', 'chatgpt']))
    .addOption(new Option(
      '--on-conflict <how>', 'what to do with a memory that is already stored',
    ).choices(['skip', 'overwrite']).default('skip'))
    .addOption(new Option(
      '--config <how>', 'whether the configuration in the export replaces that of the bank',
    ).choices(['ignore', 'apply']).default('ignore'))
    .action(async (bank, file, options) => {
      await (await import('./commands/import.js')).importBank(bank, file, options)
    })
}

function declareProposals (proposals: Command): void {
  ofServer(proposals.command('list').description('list the proposals of a bank with both texts, the newest first'))
    .argument('<bank>', BANK)
    .addOption(new Option('--state <state>', 'proposals that are open, or that were accepted or dismissed')
      .choices(['open', 'accepted', 'dismissed']).default('open'))
    .action(async (bank, options) => { await (await import('./commands/proposals.js')).listProposals(bank, options) })
  for (const [verb, description] of [
    ['accept', 'let the newer memory take the place of the older one'],
    ['dismiss', 'leave both memories as they are'],
    ['undo', 'take the decision about a proposal back'],
  ] as const) {
    ofServer(proposals.command(verb).description(description))
      .argument('<bank>', BANK)
      .argument('<proposal>', 'id of the proposal')
      .action(async (bank, proposal, options) => {
        await (await import('./commands/proposals.js')).decideProposal(verb, bank, proposal, options)
      })
  }
}

function declareConversations (conversations: Command): void {
  ofServer(conversations.command('list').description('list the conversations of a bank'))
    .argument('<bank>', BANK)
    .action(async (bank, options) => {
      await (await import('./commands/conversations.js')).listConversations(bank, options)
    })

  ofServer(conversations.command('show').description('show the messages of a conversation, the oldest first'))
    .argument('<bank>', BANK)
    .argument('<conversation>', CONVERSATION)
    .option('--last <number>', 'only so many messages from its end (default: all)', integer(1))
    .action(async (bank, conversation, options) => {
      await (await import('./commands/conversations.js')).showConversation(bank, conversation, options)
    })

  ofServer(conversations.command('append').description('store the messages that a conversation does not have; the ' +
    'whole transcript may be sent again'))
    .argument('<bank>', BANK)
    .argument('<conversation>', CONVERSATION)
    .argument('[file]', 'messages with role and content, and if need be name, id and created_at: a JSON array, or ' +
      'one in each line; without it, or with -, standard input is read')
    .action(async (bank, conversation, file, options) => {
      await (await import('./commands/conversations.js')).appendMessages(bank, conversation, file, options)
    })

  ofServer(conversations.command('delete').description('delete the messages of a conversation'))
    .argument('<bank>', BANK)
    .argument('<conversation>', CONVERSATION)
    .action(async (bank, conversation, options) => {
      await (await import('./commands/conversations.js')).deleteConversation(bank, conversation, options)
    })
}
