#!/usr/bin/env node
import { reportOf } from './failures.js'
import { endOnFaultOfOutput, note, printable } from './output.js'
import { run } from './program.js'

endOnFaultOfOutput()
try {
  process.exitCode = await run(process.argv.slice(2))
} catch (error) {
  const { text, exitCode } = await reportOf(error)
  // The message may quote a file or the answer of a server.
  note(printable(text))
  // A pending handler would keep the process alive.
  process.exit(exitCode)
}
