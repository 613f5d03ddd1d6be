import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Questions } from '../ask.js'
import { codeOf, CommandError, usageError } from '../failures.js'
import { QUESTIONS, type InitAnswers, type Question } from '../init/answers.js'
import { configText, envText } from '../init/files.js'
import { note, writeJson } from '../output.js'

type InitOptions = Partial<Record<typeof QUESTIONS[number]['key'], string>> & {
  output: string
  data: string
  yes?: boolean
  force?: boolean
  json?: boolean
}

/** Writes a configuration file with comments, and beside it `.env` with new secrets, which only its owner may read. */
export async function init (options: InitOptions): Promise<void> {
  const { output, data, force = false, json = false } = options
  const envPath = join(dirname(output), '.env')
  const there = [output, envPath].filter((path) => existsSync(path))
  if (there.length > 0 && !force) {
    throw new CommandError(`${there.join(' and ')} would be overwritten; use --force, or another --output`)
  }
  const answers = await answersOf(options, data)
  // A relative path starts at the folder in which the server is started, which is not known for another folder.
  const { text, missing } = envText(answers, dirname(output) === '.' ? output : resolve(output))
  writeNew(output, configText(answers), 0o644)
  writeNew(envPath, text, 0o600)
  if (json) return await writeJson({ config: output, env: envPath, answers, missing })
  note(`wrote ${output} and ${envPath}`)
  if (missing.length > 0) note(`fill in ${missing.join(', ')} in ${envPath}`)
  note(`next: memory-gateway doctor --env-file ${envPath}\n      memory-gateway serve --env-file ${envPath}`)
}

/** Asks on a terminal for what no option gives; elsewhere, and with --yes, the defaults apply. */
async function answersOf (options: InitOptions, data: string): Promise<InitAnswers> {
  const isInteractive = options.yes !== true && process.stdin.isTTY && process.stderr.isTTY
  const questions = isInteractive ? new Questions() : undefined
  try {
    const answers: Record<string, string> = { data }
    for (const question of QUESTIONS) {
      const { key, choices: [first] } = question
      answers[key] = options[key] ??
        (questions === undefined ? first[0] : chosen(question, await questions.ask(promptOf(question))))
    }
    // commander has checked the options, and chosen() the texts of the terminal.
    return answers as unknown as InitAnswers
  } finally {
    questions?.close()
  }
}

function promptOf ({ text, choices }: Question): string {
  const lines = choices.map(([value, meaning], index) => `  ${index + 1}  ${value}: ${meaning}`)
  return `${text}\n${lines.join('\n')}\nNumber (1): `
}

function chosen ({ choices, text }: Question, answer: string): string {
  const number = answer === '' ? 1 : Number(answer)
  const found = choices[number - 1]?.[0] ?? choices.find(([value]) => value === answer)?.[0]
  if (found === undefined) throw usageError(`${text} ${choices.map(([value]) => value).join(', ')}`)
  return found
}

function writeNew (path: string, text: string, mode: number): void {
  try {
    // The mode takes effect only when the file is created.
    rmSync(path, { force: true })
    writeFileSync(path, text, { mode, flag: 'wx' })
  } catch (error) {
    throw new CommandError(`${path} cannot be written (${codeOf(error) ?? 'unknown'})`)
  }
}
