// Runs a program of dist/, built before when it has to be: node scripts/run.mjs server.js [ARGUMENTS]
import { fileURLToPath } from 'node:url'
import { build } from './build.mjs'

if (build()) {
  const program = new URL(`../dist/${process.argv[2]}`, import.meta.url)
  // What the program finds is what it would find if Node.js had been given its file.
  process.argv.splice(1, 2, fileURLToPath(program))
  await import(program.href)
} else {
  process.exitCode = 1
}
