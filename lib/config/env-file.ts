import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import type { Environment } from './environment-reader.js'
import { readUtf8, reasonOf, type ReadFile } from './files.js'
import { ConfigurationError, printable } from './problems.js'
import { VARIABLES } from './variables.js'

export const ENV_FILE = '.env'

const ASSIGNMENT = /^\s*(?:export\s+)?[A-Za-z_][A-Za-z0-9_.-]*\s*=[ \t]*/
const NOTHING = /^\s*(?:#.*)?$/
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
  const problems = faultsOf(text, name ?? ENV_FILE)
  if (problems.length > 0) throw new ConfigurationError(problems)
  const added: Record<string, string> = {}
  for (const [variable, value] of Object.entries(parseEnv(text))) {
    const isSet = formsOf(variable).some((form) => environment[form] !== undefined)
    if (value !== undefined && !isSet) added[variable] = value
  }
  return added
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
    return readFile(resolve(folder, name ?? ENV_FILE)).replace(/^\uFEFF/, '')
  } catch (error) {
    if (name !== undefined) throw new ConfigurationError([`${printable(name)} cannot be read (${reasonOf(error)})`])
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new ConfigurationError([`${ENV_FILE} in the working directory cannot be read (${reasonOf(error)})`])
  }
}

/** Node's parser skips lines that it does not understand. A line may contain a secret, so only its number is named. */
function faultsOf (text: string, path: string): string[] {
  const file = printable(path)
  const lines = text.split(/\r?\n/)
  const problems: string[] = []
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index]!
    if (NOTHING.test(line)) continue
    const name = ASSIGNMENT.exec(line)
    if (name === null) {
      problems.push(`${file}: line ${index + 1} is not of the form NAME=value`)
      continue
    }
    const value = line.slice(name[0].length)
    const quote = /^["'`]/.exec(value)?.[0]
    if (quote === undefined) {
      // The parser would read the rest of the value, perhaps of a password, as a comment.
      if (/\S#/.test(value)) {
        problems.push(`${file}: line ${index + 1} has a # in its value: quote the value, or put a space before the # ` +
          'of a comment')
      }
      continue
    }
    // A quoted value may span lines.
    let rest = value.slice(1)
    let last = index
    while (!rest.includes(quote) && last + 1 < lines.length) rest = lines[++last]!
    const end = rest.indexOf(quote)
    if (end === -1) problems.push(`${file}: the quote that begins in line ${index + 1} has no end`)
    else if (!NOTHING.test(rest.slice(end + 1))) {
      problems.push(`${file}: line ${last + 1} has text after its closing quote`)
    }
    index = end === -1 ? index : last
  }
  return problems
}

/** Every name under which the environment may set the same: for a secret its synonym and the files, else the name. */
function formsOf (name: string): string[] {
  const secret = VARIABLES.find((variable) => (
    variable.secret && (variable.name === name || `${variable.name}_FILE` === name)
  ))
  if (secret === undefined) return [name]
  const names = SYNONYMS.find((group) => group.includes(secret.name)) ?? [secret.name]
  return names.flatMap((one) => [one, `${one}_FILE`])
}
