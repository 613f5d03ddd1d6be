import { resolve } from 'node:path'
import type { Environment } from './environment-reader.js'
import { readUtf8, reasonOf, type ReadFile } from './files.js'
import { ConfigurationError, printable } from './problems.js'
import { readVariableLines } from './variable-lines.js'
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
