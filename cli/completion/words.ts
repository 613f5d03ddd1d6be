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

/** The words that may follow a command. */
export interface CommandWords {
  /** The words of the command itself, such as `config check`; empty for the program. */
  path: string
  description: string
  commands: Array<{ name: string, description: string }>
  options: OptionWord[]
  /** Words that its arguments may be. */
  choices: readonly string[]
  /** Whether an argument is a file. */
  takesPath: boolean
}

/** Every command, in the order of its declaration. */
export function wordsOf (command: Command, path = ''): CommandWords[] {
  const help = command.createHelp()
  const commands = help.visibleCommands(command)
    .map((child) => ({ name: child.name(), description: child.description() }))
  const own: CommandWords = {
    path,
    description: command.description(),
    commands,
    options: help.visibleOptions(command).map((option) => ({
      names: [option.short, option.long].filter((name) => name != null),
      description: option.description,
      takesValue: option.required || option.optional,
      takesPath: /<(?:file|folder)>/.test(option.flags),
      choices: option.argChoices ?? [],
    })),
    choices: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    takesPath: command.registeredArguments.some((argument) => argument.name() === 'file'),
  }
  const below = (name: string) => path === '' ? name : `${path} ${name}`
  const children = command.commands.flatMap((child) => wordsOf(child, below(child.name())))
  return [own, ...helpOf(commands, below('help')), ...children]
}

/** The command `help`, which the parser shows beside other commands and does not list among them. */
function helpOf (commands: CommandWords['commands'], path: string): CommandWords[] {
  const help = commands.find(({ name }) => name === 'help')
  if (help === undefined) return []
  const choices = commands.map(({ name }) => name).filter((name) => name !== 'help')
  return [{ path, description: help.description, commands: [], options: [], choices, takesPath: false }]
}
