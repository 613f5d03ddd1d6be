import type { CommandWords, OptionWord } from './words.js'

/** The script for fish, which shows descriptions beside the words. */
export function fishCompletion (commands: readonly CommandWords[]): string {
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
