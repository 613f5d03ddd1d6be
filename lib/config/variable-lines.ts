/** An assignment in a file of variables. */
interface Assignment {
  name: string
  value: string
  /** The number of the line that it begins in. */
  line: number
}

const NOTHING = /^[ \t]*(?:#|$)/
/** What may follow a closing quote. In a shell, a # without a space before it continues the value. */
const ENDING = /^[ \t]*(?:$|[ \t]#)/
const ASSIGNMENT = /^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=/
const CONTROL_CHARACTER = /[^\P{Cc}\t\n]/u

/**
 * Reads lines of `NAME=value`, the format of `.env`. Node's own parser skips or joins lines that it does not
 * understand, and which ones depends on its version. What other readers of the format understand in another way is a
 * problem here.
 * @param file its name in the problems, which never quote a line, because any line may contain a secret
 * @returns the assignments in their order, without those that have a problem
 */
export function readVariableLines (text: string, file: string): { assignments: Assignment[], problems: string[] } {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  const assignments: Assignment[] = []
  const problems: string[] = []
  for (let index = 0; index < lines.length; index++) {
    if (NOTHING.test(lines[index]!)) continue
    const line = index + 1
    const [start, name] = ASSIGNMENT.exec(lines[index]!) ?? []
    if (start === undefined || name === undefined) {
      problems.push(`${file}: line ${line} is not of the form NAME=value`)
      continue
    }
    const rest = lines[index]!.slice(start.length)
    const quote = /^[ \t]*(["'`])/.exec(rest)?.[1] ?? ''
    const { value, after, ending } = quote === '' ? plain(rest) : quoted(quote, [rest, ...lines.slice(line)])
    const fault = faultOf(value, quote)
    if (ending === undefined) problems.push(`${file}: line ${line} has a quote without an end`)
    else if (!ENDING.test(ending)) problems.push(`${file}: line ${line + after} has text after its closing quote`)
    else if (fault !== undefined) problems.push(`${file}: line ${line} ${fault}`)
    else assignments.push({ name, value: quote === '"' ? value.replaceAll('\\n', '\n') : value, line })
    index += after
  }
  return { assignments, problems }
}

interface ReadValue {
  value: string
  /** How many lines after the first the value ends. */
  after: number
  /** What follows the value in its last line; undefined when its quote has no end. */
  ending: string | undefined
}

function plain (rest: string): ReadValue {
  const value = rest.replace(/[ \t]#[^]*$/, '').replace(/^[ \t]+|[ \t]+$/g, '')
  return { value, after: 0, ending: '' }
}

/** @param lines the value begins in the first, and may span several */
function quoted (quote: string, lines: readonly string[]): ReadValue {
  const begin = lines[0]!.indexOf(quote) + 1
  const after = lines.findIndex((line, index) => line.includes(quote, index === 0 ? begin : 0))
  if (after === -1) return { value: '', after: 0, ending: undefined }
  const text = lines.slice(0, after + 1).join('\n')
  const end = text.indexOf(quote, begin)
  return { value: text.slice(begin, end), after, ending: text.slice(end + 1) }
}

function faultOf (value: string, quote: string): string | undefined {
  if (CONTROL_CHARACTER.test(value) || (quote === '' && value.trim() !== value)) {
    return 'has an invisible character in its value'
  }
  if (quote === '' && value.includes('#')) {
    return 'has a # in its value: quote the value, or put a space before the # of a comment'
  }
  if (quote === '"' && /\\(?!n)/.test(value)) {
    return 'has a backslash in double quotes that is not part of \\n: put the value in single quotes'
  }
  // Substitution, as in the configuration file, is the rule of other readers of this format.
  if (quote !== "'" && value.includes('${')) {
    return 'has a ${, which is not replaced here: put the value in single quotes'
  }
  return undefined
}
