import { Argument, Option, type Command } from 'commander'
import { QUESTIONS } from './init/answers.js'
import { integer, pair } from './option-values.js'

/** Adds the options that choose the configuration of a server. */
function configured (command: Command, envFile = 'file of variables that is read instead of .env'): Command {
  return command
    .option('--config <file>', 'configuration file (default: SERVICES_CONFIG_PATH)')
    .option('--env-file <file>', envFile)
}

/** The commands for operators of a server. */
export function declareServerCommands (program: Command): void {
  configured(program.command('serve').description('start the server'))
    .option('--data <folder>', 'keep memories in this folder (vector_store: pglite); without it and a configuration ' +
      'file they are lost when the server stops')
    .option('--port <number>', 'port to listen on; 0 lets the system choose (default: ' +
      'SERVICES_PORT, else 8080)', integer(0, 65_535))
    .action(async (options) => { await (await import('./commands/serve.js')).serveCommand(options) })

  const init = program.command('init').description('write a configuration file with comments, and .env with new ' +
    'secrets; asks on a terminal')
  for (const { flag, text, choices } of QUESTIONS) {
    init.addOption(new Option(flag, text).choices(choices.map(([value]) => value)))
  }
  init.option(
    '--data <folder>', 'folder of the store pglite; a relative path starts at the folder of the configuration file',
    './data',
  )
    .option('-o, --output <file>', 'file to write; .env is written beside it', 'memory-gateway.yaml')
    .option('--yes', 'ask nothing, and use the defaults of options that are not given')
    .option('--force', 'overwrite existing files')
    .option('--json', 'write JSON')
    .action(async (options) => { await (await import('./commands/init.js')).init(options) })

  configured(program.command('doctor').description('check configuration, database, models and identity provider, and ' +
    'advise on each problem'))
    .option('--data <folder>', 'folder in which memories are kept, as for serve')
    .option('--json', 'write JSON')
    .action(async (options) => { await (await import('./commands/doctor.js')).doctor(options) })

  const config = program.command('config').description('check or show the configuration of a server')
  configured(config.command('check').description('check the configuration as at start, without starting the server'))
    .option('--json', 'write JSON')
    .action(async (options) => { await (await import('./commands/config.js')).checkConfig(options) })
  configured(config.command('show').description('show the effective configuration, with all defaults ' +
    'except those of providers, and without secrets'))
    .option('--json', 'write JSON')
    .action(async (options) => { await (await import('./commands/config.js')).showConfig(options) })
  config.command('schema').description('write the JSON Schema of the configuration file, for editors')
    .action(async () => { await (await import('./commands/config.js')).writeSchema() })

  configured(program.command('migrate').description('apply the missing migrations to the database; servers may ' +
    'keep running'))
    .option('--distribute', 'distribute the tables over a cluster of Citus, whose coordinator the URI names')
    .option('--shards <number>', 'number of shards of each distributed table (default: citus.shard_count)',
      integer(1, 1024))
    .option('--partitions <number>', 'divide the tables of banks into so many partitions; they are locked meanwhile',
      integer(1, 1024))
    .option('--json', 'write JSON')
    .action(async (options) => { await (await import('./commands/migrate.js')).migrate(options) })

  configured(program.command('reembed').description('give all memories vectors of the configured embedding provider; ' +
    'banks stay in use'))
    .option('--bank <bank>', 'only this bank')
    .option('--tenant <tenant>', 'only banks of this tenant')
    .option('--batch <number>', 'number of memories to embed at a time', integer(1, 10_000), 64)
    .option('--json', 'write JSON')
    .action(async (options) => { await (await import('./commands/reembed.js')).reembed(options) })

  const mcp = program.command('mcp').description('speak the Model Context Protocol over standard input and output')
  configured(mcp, 'file of variables; without this option none is read, not even .env')
    .option('--data <folder>', 'use the memories in this folder; without --data and --config, requests go to a server')
    .option('--bank <bank>', 'the only bank that the client may use; the tools then take no bank')
    .option('--profile <name>', 'profile with the server and the credentials (default: MEMORY_GATEWAY_PROFILE, ' +
      'else default)')
    .action(async (options) => { await (await import('./commands/mcp.js')).mcp(options) })

  program.command('token').description('make a token for SERVICE_AUTH_MODE=jwt_hs256, signed with ' +
    'SERVICE_JWT_SECRET; for development')
    .argument('<principal>', 'principal of the token, for example user:ada')
    .option('--expires-in <seconds>', 'number of seconds for which it is valid', integer(1, 31_536_000), 3600)
    .option('--claim <name=value>', 'additional claim; may be repeated', pair)
    .option('--env-file <file>', 'file of variables that is read instead of .env')
    .option('--json', 'write JSON')
    .action(async (principal, options) => { await (await import('./commands/token.js')).token(principal, options) })

  program.command('completion').description('write a script that completes commands and options')
    .addArgument(new Argument('<shell>', 'shell for which to write the script').choices(['bash', 'zsh', 'fish']))
    .action(async (shell) => { await (await import('./commands/completion.js')).completion(shell, program) })
}
