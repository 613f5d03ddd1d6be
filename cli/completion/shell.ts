import type { CommandWords, OptionWord } from './words.js'

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
export function bashCompletion (commands: readonly CommandWords[]): string {
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
export function zshCompletion (commands: readonly CommandWords[]): string {
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
