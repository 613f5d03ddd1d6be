import type { Command } from 'commander'

export interface OptionWord {
  names: string[]
  description: string
  /** Whether a value follows it. */
  takesValue: boolean
  /** Whether that value is a file or folder. */
  takesPath: boolean
  choices: readonly string[]
}

/** What may stand behind a command. */
export interface CommandWords {
  /** Words that lead to it, `config check` for one; empty for the program itself. */
  path: string
  description: string
  commands: Array<{ name: string, description: string }>
  options: OptionWord[]
}

/** Every command, in the order of its declaration. */
export function wordsOf (command: Command, path = ''): CommandWords[] {
  const help = command.createHelp()
  const own: CommandWords = {
    path,
    description: command.description(),
    commands: help.visibleCommands(command).map((child) => ({ name: child.name(), description: child.description() })),
    options: help.visibleOptions(command).map((option) => ({
      names: [option.short, option.long].filter((name) => name != null),
      description: option.description,
      takesValue: option.required || option.optional,
      takesPath: /<(?:file|folder)>/.test(option.flags),
      choices: option.argChoices ?? [],
    })),
  }
  return [own, ...command.commands.flatMap((child) => wordsOf(child, path === '' ? child.name() : `${path} ${child.name()}`))]
}
