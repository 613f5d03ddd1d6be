import type { Command } from 'commander'
import { usageError } from '../failures.js'
import { bashCompletion, zshCompletion } from '../completion/shell.js'
import { fishCompletion } from '../completion/fish.js'
import { wordsOf } from '../completion/words.js'
import { write } from '../output.js'

const SCRIPTS = new Map([['bash', bashCompletion], ['zsh', zshCompletion], ['fish', fishCompletion]])

/** Writes the script for a shell, made from the commands as they are declared. */
export async function completion (shell: string, program: Command): Promise<void> {
  const script = SCRIPTS.get(shell)
  if (script === undefined) throw usageError(`there is no completion for ${shell}; there is one for ${[...SCRIPTS.keys()].join(', ')}`)
  await write(script(wordsOf(program)))
}
