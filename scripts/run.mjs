// Runs a program of dist/, after building it if necessary: node scripts/run.mjs server.js [ARGUMENTS]
import { fileURLToPath } from 'node:url'
import { build } from './build.mjs'

if (build()) {
  const program = new URL(`../dist/${process.argv[2]}`, import.meta.url)
  // The program sees the arguments as if Node.js had been started with its file.
  process.argv.splice(1, 2, fileURLToPath(program))
  await import(program.href)
} else {
  process.exitCode = 1
}
