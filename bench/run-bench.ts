import { UnusableInput } from './checker.js'

/**
 * Runs a bench as the main program. Any error is printed and ends it with exit code 1, so that nobody takes a partial
 * result for a complete one.
 * @param usage printed when the options are wrong
 */
export async function runBench (main: (args: string[]) => Promise<void>, usage: string): Promise<void> {
  // Without a handler a signal ends the process without `exit`, and the servers that it started would keep running.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => { process.exit(1) })
  try {
    await main(process.argv.slice(2))
  } catch (error) {
    process.exitCode = 1
    if (isWrongOption(error)) console.error(`${error.message}\n\n${usage}`)
    else console.error(error instanceof UnusableInput ? error.message : error)
  }
}

/** parseArgs of node:util names the option in its message. */
function isWrongOption (error: unknown): error is Error {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' &&
      error.code.startsWith('ERR_PARSE_ARGS')
  )
}
