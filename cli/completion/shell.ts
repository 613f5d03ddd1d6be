import type { CommandWords, OptionWord } from './words.js'

/** For bash: words of the command that stands in the line, files where an option or argument takes one. */
export function bashCompletion (commands: readonly CommandWords[]): string {
  return `# bash completion of memory-gateway: source <(memory-gateway completion bash)
_memory_gateway () {
  local word path='' at
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]}
  for ((at = 1; at < COMP_CWORD; at++)); do
    word=\${COMP_WORDS[at]}
    case "\${path:+$path }$word" in
      ${paths(commands)}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path $before" in
${valueCases(commands, (values) => `COMPREPLY=($(compgen -W '${values}' -- "$current")); return`, 'COMPREPLY=($(compgen -f -- "$current")); return')}
  esac
  case "$path" in
${commands.map((command) => `    '${command.path}') COMPREPLY=($(compgen -W '${candidates(command)}' -- "$current")) ;;`).join('\n')}
  esac
}
complete -o default -F _memory_gateway memory-gateway
`
}

/** For zsh. */
export function zshCompletion (commands: readonly CommandWords[]): string {
  return `#compdef memory-gateway
# zsh completion of memory-gateway: source <(memory-gateway completion zsh), after compinit
_memory_gateway () {
  local word way=''
  local before=\${words[CURRENT-1]}
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${way:+$way }$word" in
      ${paths(commands)}) way="\${way:+$way }$word" ;;
    esac
  done
  case "$way $before" in
${valueCases(commands, (values) => `compadd -- ${values}; return`, '_files; return')}
  esac
  case "$way" in
${commands.map((command) => `    '${command.path}') compadd -- ${candidates(command)} ;;`).join('\n')}
  esac
  [[ "\${words[CURRENT]}" == -* ]] || _files
}
compdef _memory_gateway memory-gateway
`
}

function paths (commands: readonly CommandWords[]): string {
  return commands.filter(({ path }) => path !== '').map(({ path }) => `'${path}'`).join('|')
}

function candidates ({ commands, options }: CommandWords): string {
  return [...commands.map(({ name }) => name), ...options.flatMap(({ names }) => names)].join(' ')
}

/** What may follow an option that has a value. */
function valueCases (commands: readonly CommandWords[], ofWords: (values: string) => string, ofFiles: string): string {
  const ofOption = (path: string, option: OptionWord): string[] => {
    if (!option.takesValue || (option.choices.length === 0 && !option.takesPath)) return []
    const action = option.choices.length > 0 ? ofWords(option.choices.join(' ')) : ofFiles
    return [`    ${option.names.map((name) => `'${path} ${name}'`).join('|')}) ${action} ;;`]
  }
  return commands.flatMap(({ path, options }) => options.flatMap((option) => ofOption(path, option))).join('\n')
}
