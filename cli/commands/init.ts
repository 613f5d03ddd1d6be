import { randomBytes } from 'node:crypto'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Questions } from '../ask.js'
import { codeOf, CommandError, usageError } from '../failures.js'
import { type InitAnswers, type Question, QUESTIONS } from '../init/answers.js'
import { note, writeJson } from '../output.js'

/** The text of the configuration file, with a comment on the meaning of each choice. */
function configText (answers: InitAnswers): string {
  const { store, embeddings, llm, access } = answers
  const parts = [STORES[store](answers), EMBEDDINGS[embeddings], MODELS[llm], ACCESS[access]]
  return `# Memory Gateway. docs/configuration.md has every key; \`memory-gateway config check\` checks this file,
# \`memory-gateway config schema\` writes its JSON Schema for editors.

${parts.join('\n')}
# Limits of requests. Remove the # to apply them.
# homeostasis:
#   recall_max_tokens: 4000
#   rate_limits:
#     global_per_minute: 600
`
}

const STORES: Record<InitAnswers['store'], (answers: InitAnswers) => string> = {
  in_memory: () => `# Memories are lost when the process ends.
vector_store: in_memory
`,
  pglite: (
    { data },
  ) => `# Memories are kept in a folder, for one process at a time. A relative path starts at the folder of this file.
vector_store: pglite
vector_store_config:
  data_dir: ${JSON.stringify(data)}
`,
  postgres: () => `# The connection URI is in DATABASE_URL, in the file .env or the environment.
vector_store: postgres
vector_store_config:
  # true: the server applies missing migrations at start. false: \`memory-gateway migrate\` does, with its own role.
  bootstrap_schema: true
`,
}

const EMBEDDINGS: Record<InitAnswers['embeddings'], string> = {
  mock: `# Memories are found by words alone.
embedding_provider: mock
`,
  local: `# Memories are found by words and by meaning; a model on this machine (English) computes the vectors.
embedding_provider: local
`,
  openai_compatible: `# Memories are found by words and by meaning. They are sent to this endpoint.
embedding_provider: openai_compatible
embedding_provider_config:
  base_url: https://api.openai.com/v1
  model: text-embedding-3-small
  dimensions: 1536
  api_key_env: OPENAI_API_KEY
`,
}

const MODELS: Record<InitAnswers['llm'], string> = {
  mock: `# Reflect answers with sentences of the memories themselves.
llm_provider: mock
`,
  openai_compatible: `# Reflect asks this endpoint. Questions and their evidence are sent there.
llm_provider: openai_compatible
llm_provider_config:
  base_url: https://api.openai.com/v1
  model: gpt-4.1-mini
  api_key_env: OPENAI_API_KEY
`,
  anthropic: `# Reflect asks Anthropic. Questions and their evidence are sent there.
llm_provider: anthropic
llm_provider_config:
  model: claude-haiku-4-5
  api_key_env: ANTHROPIC_API_KEY
`,
}

const ACCESS: Record<InitAnswers['access'], string> = {
  off: `# Every caller may use every bank.
access_control:
  enabled: false
`,
  on: `# user:ada may use the bank user-ada, and nobody else may. Remove the # to grant more.
access_control:
  enabled: true
  default_policy: owner_only
# access_grants:
#   - bank_id: team
#     principal: user:ada
#     permissions: [read, write]
`,
}

/** A line of the file of variables. */
interface VariableLine {
  name: string
  /** Undefined: the operator fills it in. */
  value?: string
  description: string
}

/**
 * The text of the file of variables, and the names of the variables that remain to be filled in.
 * @param configPath of the configuration file
 */
function envText (answers: InitAnswers, configPath: string): { text: string, missing: string[] } {
  const lines = variables(answers, configPath)
  const texts = lines.map(({ name, value, description }) => (
    `# ${description}\n${value === undefined ? `#${name}=` : `${name}=${quoted(value)}`}\n`
  ))
  return { text: texts.join('\n'), missing: lines.filter(({ value }) => value === undefined).map(({ name }) => name) }
}

/** In quotes that the value lacks, double ones last: within them the reader takes a backslash and n for a line feed. */
function quoted (value: string): string {
  const quote = ['\'', '`', '"'].find((one) => !value.includes(one)) ?? '\''
  return `${quote}${value}${quote}`
}

const secret = () => randomBytes(32).toString('base64url')

function variables ({ store, embeddings, llm, auth }: InitAnswers, configPath: string): VariableLine[] {
  const open = (name: string, description: string): VariableLine => ({ name, description })
  const credentials: Record<InitAnswers['auth'], () => VariableLine[]> = {
    dev: () => [],
    api_key: () => [
      {
        name: 'SERVICE_API_KEY',
        value: secret(),
        description: 'The key that callers send in X-Api-Key, with X-Service-Principal.',
      },
    ],
    jwt_hs256: () => [
      {
        name: 'SERVICE_JWT_SECRET',
        value: secret(),
        description: 'Signs the tokens; `memory-gateway token user:ada` makes one.',
      },
    ],
    jwt_oidc: () => [
      open('SERVICE_OIDC_JWKS_URL', 'Key set of the identity provider.'),
      open('SERVICE_OIDC_ISSUER', 'Expected iss claim.'),
      open('SERVICE_OIDC_AUDIENCE', 'Expected aud claim.'),
    ],
  }
  return [
    { name: 'SERVICES_CONFIG_PATH', value: configPath, description: 'The configuration file.' },
    { name: 'SERVICE_AUTH_MODE', value: auth, description: 'How callers prove who they are.' },
    ...credentials[auth](),
    {
      name: 'SERVICE_ADMIN_TOKEN', value: secret(), description: 'The token that /v1/admin asks for in X-Admin-Token.',
    },
    ...(store === 'postgres'
      ? [open('DATABASE_URL', 'postgres://user:password@host:5432/database, with pgvector.')]
      : []),
    ...(embeddings === 'openai_compatible' || llm === 'openai_compatible'
      ? [open('OPENAI_API_KEY', 'API key of the endpoint.')]
      : []),
    ...(llm === 'anthropic' ? [open('ANTHROPIC_API_KEY', 'API key of Anthropic.')] : []),
  ]
}

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
