import type { Command } from 'commander'
import { bashCompletion, zshCompletion } from '../completion/shell.js'
import { fishCompletion } from '../completion/fish.js'
import { wordsOf } from '../completion/words.js'
import { write } from '../output.js'

type Shell = 'bash' | 'zsh' | 'fish'

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion }

/** Writes the script for a shell, made from the commands as they are declared. */
export async function completion (shell: Shell, program: Command): Promise<void> {
  await write(SCRIPTS[shell](wordsOf(program)))
}
