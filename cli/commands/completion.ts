import type { Command } from 'commander'
import { write } from '../output.js'

interface OptionWord {
  names: string[]
  description: string
  /** Whether a value follows it. */
  takesValue: boolean
  /** Whether that value is a file or folder. */
  takesPath: boolean
  choices: readonly string[]
}

/** The words that may follow a command. */
interface CommandWords {
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

/** The script for fish, which shows descriptions beside the words. */
function fishCompletion (commands: readonly CommandWords[]): string {
  const lines = commands.flatMap(({ path, commands: children, options, choices, takesPath }) => {
    const condition = conditionOf(path, children.map(({ name }) => name))
    return [
      ...(choices.length > 0 ? [`complete -c memory-gateway -n ${condition} -a ${quoted(choices.join(' '))}`] : []),
      ...(takesPath ? [`complete -c memory-gateway -n ${condition} -F`] : []),
      ...children.map(({ name, description }) =>
        `complete -c memory-gateway -n ${condition} -a ${name} -d ${quoted(description)}`),
      ...options.map((option) =>
        `complete -c memory-gateway -n ${condition} ${optionWords(option)} -d ${quoted(option.description)}`),
    ]
  })
  return `# fish completion of memory-gateway: memory-gateway completion fish | source
# Files are offered only where one is meant.
complete -c memory-gateway -f
${lines.join('\n')}
`
}

/** The condition that a line is at a command: it has all words of its path and no subcommand. */
function conditionOf (path: string, children: readonly string[]): string {
  if (path === '') return '__fish_use_subcommand'
  const seen = path.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`)
  const below = children.length > 0 ? [`not __fish_seen_subcommand_from ${children.join(' ')}`] : []
  return quoted([...seen, ...below].join('; and '))
}

function optionWords ({ names, takesValue, takesPath, choices }: OptionWord): string {
  const words = names.map((name) => name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`)
  if (!takesValue) return words.join(' ')
  const value = choices.length > 0 ? `-x -a ${quoted(choices.join(' '))}` : takesPath ? '-r -F' : '-x'
  return [...words, value].join(' ')
}

function quoted (text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll('\'', '\\\'')}'`
}

/** What a shell does to complete a word. */
interface Actions {
  /** Offers words. */
  words: (words: string) => string
  files: string
  /** Offers nothing, where any text is possible. */
  nothing: string
  /** Offers files, or words if the current word begins like an option. */
  filesOr: (words: string) => string
}

/** The script for bash: offers words of the command in the line, and files where an option or argument takes one. */
function bashCompletion (commands: readonly CommandWords[]): string {
  const offer = (words: string) => `COMPREPLY=($(compgen -W '${words}' -- "$current"))`
  const actions: Actions = {
    words: offer,
    // The shell itself offers files when this function offers nothing, and knows how to quote their names.
    files: ':',
    nothing: 'compopt +o default 2>/dev/null',
    filesOr: (words) => `[[ "$current" != -* ]] || ${offer(words)}`,
  }
  return `# bash completion of memory-gateway: source <(memory-gateway completion bash)
_memory_gateway () {
  local word path='' at
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]}
  # The shell splits --name=value at the sign.
  if [[ "$current" == '=' ]]; then current=''; elif [[ "$before" == '=' ]]; then before=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((at = 1; at < COMP_CWORD; at++)); do
    word=\${COMP_WORDS[at]}
    case "\${path:+$path }$word" in
      ${paths(commands)}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path $before" in
${valueCases(commands, actions)}
  esac
  case "$path" in
${commandCases(commands, actions)}
  esac
}
complete -o default -F _memory_gateway memory-gateway
`
}

/** The script for zsh. */
function zshCompletion (commands: readonly CommandWords[]): string {
  const offer = (words: string) => `compadd -- ${words}`
  const actions: Actions = {
    words: offer,
    files: '_files',
    nothing: ':',
    filesOr: (words) => `if [[ "$PREFIX" == -* ]]; then ${offer(words)}; else _files; fi`,
  }
  return `#compdef memory-gateway
# zsh completion of memory-gateway: source <(memory-gateway completion zsh), after compinit
_memory_gateway () {
  local word way=''
  local before=\${words[CURRENT-1]}
  if [[ "$PREFIX" == --*=* ]]; then before=\${PREFIX%%=*}; compset -P '*='; fi
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${way:+$way }$word" in
      ${paths(commands)}) way="\${way:+$way }$word" ;;
    esac
  done
  case "$way $before" in
${valueCases(commands, actions)}
  esac
  case "$way" in
${commandCases(commands, actions)}
  esac
}
compdef _memory_gateway memory-gateway
`
}

function paths (commands: readonly CommandWords[]): string {
  return commands.filter(({ path }) => path !== '').map(({ path }) => `'${path}'`).join('|')
}

function commandCases (all: readonly CommandWords[], actions: Actions): string {
  return all.map(({ path, commands, choices, options, takesPath }) => {
    const words = [...commands.map(({ name }) => name), ...choices, ...options.flatMap(({ names }) => names)].join(' ')
    return `    '${path}') ${takesPath ? actions.filesOr(words) : actions.words(words)} ;;`
  }).join('\n')
}

/** The cases for options that have a value. */
function valueCases (commands: readonly CommandWords[], actions: Actions): string {
  return commands.flatMap(({ path, options }) => options.filter(({ takesValue }) => takesValue).map((option) => {
    const names = option.names.map((name) => `'${path} ${name}'`).join('|')
    return `    ${names}) ${actionOf(option, actions)}; return ;;`
  })).join('\n')
}

function actionOf ({ choices, takesPath }: OptionWord, actions: Actions): string {
  if (choices.length > 0) return actions.words(choices.join(' '))
  return takesPath ? actions.files : actions.nothing
}

type Shell = 'bash' | 'zsh' | 'fish'

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion }

/** Writes the script for a shell, made from the commands as they are declared. */
export async function completion (shell: Shell, program: Command): Promise<void> {
  await write(SCRIPTS[shell](wordsOf(program)))
}
