#!/usr/bin/env node
import { Command, CommanderError } from 'commander'
import { declareMemoryCommands } from './declare-memory-commands.js'
import { declareServerCommands } from './declare-server-commands.js'
import { EXIT, reportOf } from './failures.js'
import { endOnFaultOfOutput, note } from './output.js'
import { packageVersion } from '../lib/base/package-file.js'

/** Arguments of the program itself; any other option in the first place is one of `serve`. */
const PROGRAM_OPTIONS = new Set(['-h', '--help', '-V', '--version'])

const AFTER = `
Without a command, the server is started: \`memory-gateway\` is the same as \`memory-gateway serve\`.

The commands that talk to a server read MEMORY_GATEWAY_URL (default http://127.0.0.1:8080), MEMORY_GATEWAY_API_KEY,
MEMORY_GATEWAY_TOKEN and MEMORY_GATEWAY_PRINCIPAL, or the profile ~/.config/memory-gateway/default.env (mode 0600).

Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.`

endOnFaultOfOutput()
try {
  process.exitCode = await run(process.argv.slice(2))
} catch (error) {
  const { text, exitCode } = await reportOf(error)
  note(text)
  // A pending handler would keep the process alive.
  process.exit(exitCode)
}

/** Declares every command with its options. The code of a command is loaded when it runs. */
function makeProgram (): Command {
  const program = new Command('memory-gateway')
    .description('Memory for AI agents: the server, and commands for it.')
    .version(packageVersion(), '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show the help of a command')
    .usage('[command] [options]')
    .addHelpText('after', AFTER)
    .showHelpAfterError('(--help shows the commands and options)')
    .exitOverride()
  declareServerCommands(program)
  declareMemoryCommands(program)
  for (const command of everyCommand(program)) {
    if (command !== program) command.version(packageVersion(), '-V, --version', 'show the version')
  }
  return program
}

/** A command and all below it. */
function everyCommand (command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)]
}

/** @param args without the program's own name. @returns the exit code */
async function run (args: readonly string[]): Promise<number> {
  const [first] = args
  const isServe = first === undefined || (first.startsWith('-') && !PROGRAM_OPTIONS.has(first))
  try {
    await makeProgram().parseAsync(isServe ? ['serve', ...args] : [...args], { from: 'user' })
    return Number(process.exitCode ?? EXIT.done)
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // The parser has already printed the error.
    return error.exitCode === 0 ? EXIT.done : EXIT.usage
  }
}
