import { resolve } from 'node:path'
import { readUtf8, reasonOf, type Environment, type ReadFile } from './environment.js'
import { ConfigurationError, printable } from './problems.js'
import { VARIABLES } from './variables.js'

export const ENV_FILE = '.env'

/** Variables that set the same thing under two names. */
const SYNONYMS: ReadonlyArray<readonly string[]> = [['DATABASE_URL', 'SERVICES_PG_DSN']]

/**
 * Reads the variables of a `.env` file that the environment does not set yet, under any of the names for the same
 * setting (`DATABASE_URL`, `DATABASE_URL_FILE`, `SERVICES_PG_DSN`).
 * @param name default `.env`, which may be missing; a file with another name must exist
 * @returns undefined when there is no `.env`
 * @throws ConfigurationError that names the wrong lines by number and does not quote them
 */
export function readEnvFile (
  folder: string, environment: Environment, readFile: ReadFile = readUtf8, name?: string,
): Record<string, string> | undefined {
  const text = textOf(folder, name, readFile)
  if (text === undefined) return undefined
  const { assignments, problems } = readVariableLines(text, printable(name ?? ENV_FILE))
  if (problems.length > 0) throw new ConfigurationError(problems)
  const isSet = (variable: string) => formsOf(variable).some((form) => environment[form] !== undefined)
  return Object.fromEntries(
    assignments.filter((one) => !isSet(one.name)).map((one) => [one.name, one.value]),
  )
}

/**
 * Adds the variables of the file to the environment of the process.
 * @param name as in readEnvFile()
 * @returns whether the file exists
 * @throws as readEnvFile()
 */
export function applyEnvFile (environment: NodeJS.ProcessEnv, folder: string, name?: string): boolean {
  const added = readEnvFile(folder, environment, readUtf8, name)
  Object.assign(environment, added)
  return added !== undefined
}

function textOf (folder: string, name: string | undefined, readFile: ReadFile): string | undefined {
  try {
    return readFile(resolve(folder, name ?? ENV_FILE))
  } catch (error) {
    if (name !== undefined) throw new ConfigurationError([`${printable(name)} cannot be read (${reasonOf(error)})`])
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new ConfigurationError([`${ENV_FILE} in the working directory cannot be read (${reasonOf(error)})`])
  }
}

/**
 * Every name under which the environment may set the same: the name and that of its file, with those of a synonym. The
 * configuration file may name any variable as a secret; of our own variables only secrets may come from a file.
 */
function formsOf (name: string): string[] {
  const base = name.replace(/_FILE$/, '')
  if (VARIABLES.some((variable) => variable.name === base && !variable.secret)) return [name]
  const names = SYNONYMS.find((group) => group.includes(base)) ?? [base]
  return names.flatMap((one) => [one, `${one}_FILE`])
}

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
