import { describe } from '../lib/config/file.js'
import { FileSchema } from '../lib/config/schema.js'
import { type Kind, type Variable, VARIABLES } from '../lib/config/variables.js'
import { PROVIDER_SETTINGS, type ProviderSettings } from '../lib/config/providers/schemas.js'
import type { SchemaNode } from '../lib/base/schema-node.js'

/** A configuration file that uses most sections; docs/configuration.md shows it and a test loads it. */
const EXAMPLE = `\
vector_store: in_memory
llm_provider: mock
embedding_provider: auto

access_control:
  enabled: true
  default_policy: owner_only          # user:ada owns the bank user-ada

access_grants:
  - bank_id: team-*
    principal: user:*
    permissions: [read, write]

banks:
  team-archive:
    access:
      - principal: agent:archivist
        permissions: ['*']
    homeostasis:
      rate_limits:
        retain_per_minute: 10

homeostasis:
  recall_max_tokens: 4000
  rate_limits:
    global_per_minute: 600
  quotas:
    retain_per_day: 10000

barriers:
  metadata:
    blocked_keys: [password, ssn]

sources:
  tickets:
    type: webhook
    target_bank: team-tickets
    content_path: /issue/body
    auth:
      type: hmac
      secret: \${TICKETS_WEBHOOK_SECRET}
`

/** The text of `.env.example`: every variable, commented out, so that an unchanged copy has no effect. */
export function envExample (): string {
  const entries = VARIABLES.map(({ name, description, default: value = '' }: Variable) => (
    `${comment(description)}\n#${name}=${value}\n`
  ))
  return `\
# Environment of Memory Gateway. Uncomment what you change; the values shown are the defaults.
# A variable that is set must not be empty. docs/configuration.md lists the allowed values.
# A file .env in this format is read from the working directory; variables of the real environment take precedence.
${comment(`A secret may be read from a file instead: ${secretNames().map((name) => `${name}_FILE`).join(', ')}.`)}

${entries.join('\n')}`
}

/** Lines of a comment, at most 120 columns wide where the words allow it. */
function comment (text: string): string {
  return text.replaceAll(/(\S.{0,117})(?:\s+|$)/g, '# $1\n').trimEnd()
}

/** The text of `docs/configuration.md`. */
export function configurationReference (): string {
  return `\
<!-- Written by scripts/write-config-docs.ts from lib/config.
     Change the sources, then run: npx tsx scripts/write-config-docs.ts -->

# Configuration

The configuration is the file that \`SERVICES_CONFIG_PATH\` names, and environment variables. It is read and checked
once, at startup. If it has problems, the process reports all of them in one message and exits with code 1. No key of
the file is accepted and then ignored. SIGHUP or \`POST /v1/admin/reload\` applies a changed file, except for
[keys that need a restart](bank-configuration.md#a-changed-file-without-a-restart). The admins of a bank configure it
through the API: [bank-configuration.md](bank-configuration.md).

- [Example](#example)
- [Environment](#environment): the variables
- [Configuration file](#configuration-file): its form, and the table of all keys
- The settings of each provider:
${providerLinks()}

\`npx memory-gateway config check\` checks a configuration without starting the gateway, and \`config show\` shows the
values that apply, with all defaults except those of providers ([command-line.md](command-line.md#the-server)).

## Example

\`\`\`yaml
${EXAMPLE}\`\`\`

## Environment

A variable that is set must not be empty. A secret may be read from a file instead: \`<NAME>_FILE\` is its path, the
last line end is removed, and setting both variables is an error. A variable of one auth mode is checked in every mode
but has an effect only in its own; setting it in another mode causes a warning. When the mode requires a variable that
is not set, the process starts, logs an error, shows the check \`auth\` in \`/health\`, and answers every request to the
memory routes with status 500.

A file \`.env\` in the working directory is read, by the server and by the commands for operators except \`mcp\` (those
that call a server read [profiles](command-line.md)): lines of \`NAME=value\`, also with \`export\` before the name, and
comments that begin with \`#\`. After a value, the \`#\` of a comment needs a space before it, and a value that contains
a \`#\` must be quoted, with \`"\`, \`'\` or a backtick; a quoted value may span lines. In double quotes \`\\n\` is the
end of a line, and no other backslash is allowed. Nothing is replaced in a value: a \`\${\` is allowed only in single
quotes. Of two lines that set the same variable the last counts. A line in any other form is an error that prevents the
start.

Variables of the real environment take precedence, in each of their forms: if it sets \`DATABASE_URL_FILE\` or
\`SERVICES_PG_DSN\`, the \`DATABASE_URL\` of the file is ignored.

Setting \`DATABASE_URL\` causes a warning with \`vector_store: in_memory\`, which uses no database, and prevents the
start with \`pglite\`. \`PORT\` is not read; setting it without \`SERVICES_PORT\` causes a warning.

| Variable | Allowed | Default | Meaning |
|---|---|---|---|
${VARIABLES.map(variableRow).join('\n')}

A variable that begins with \`SERVICE_\` or \`SERVICES_\` and is not in the table causes a warning, and is an error when
its name differs from one in the table by only one or two letters.

## Configuration file

\`SERVICES_CONFIG_PATH\` names a file with one YAML 1.2 document (core schema). Unknown keys and tags, duplicate keys
and a second document are errors. An empty section or list counts as absent.

\`\${NAME}\` in a string is replaced by the environment variable, or by the content of the file that \`NAME_FILE\`
names; \`$\${\` is a literal \`\${\`. A string that consists of a single \`\${NAME}\` becomes a number or boolean where
one is required; in the settings of a class of your own it stays a text. A variable that is unset or empty is an error.
Nothing is replaced in keys.

A setting without effect also prevents the start: the settings of a provider that is not chosen, \`retrieval.rerank\`
without \`reranker\`, \`retrieval.semantic_timeout_ms\` with the mock embedding model, \`escalation\`, \`prices\`,
\`retrieval.rewrite\` and \`retrieval.model_rerank\` with the mock language model, and other keys of a section whose
\`enabled\` is not set. A section with \`enabled: false\` is switched off on purpose, so its settings are accepted.

| Key | Allowed | Meaning |
|---|---|---|
${childrenOf(FileSchema, '').join('\n')}
${PROVIDER_SETTINGS.map(providerTable).join('')}`
}

/** A line for each key, with a link to the table of each of its providers. */
function providerLinks (): string {
  return [...new Set(PROVIDER_SETTINGS.map(({ key }) => key))].map((key) => {
    const links = PROVIDER_SETTINGS.filter((provider) => provider.key === key)
      .map(({ name }) => `[${name}](#${key}-${name})`)
    return `  - \`${key}\`: ${links.join(', ')}`
  }).join('\n')
}

function providerTable ({ key, name, schema }: ProviderSettings): string {
  return `
### ${key}: ${name}

The keys of \`${key}_config\` with \`${key}: ${name}\`. Any other key is an error.

| Key | Allowed | Meaning |
|---|---|---|
${childrenOf(schema, `${key}_config`).join('\n')}
`
}

function secretNames (): string[] {
  return VARIABLES.filter(({ secret }) => secret).map(({ name }) => name)
}

function variableRow (variable: Variable): string {
  const { mode, required = false, kind, secret } = variable
  const note = mode === undefined ? '' : ` Mode \`${mode}\`${required ? ', required' : ''}.`
  const fallback = variable.default === undefined ? '–' : `\`${variable.default}\``
  const allowed = `${describeKind(kind)}${secret ? ' (secret)' : ''}`
  return row([`\`${variable.name}\``, allowed, fallback, `${variable.description}${note}`])
}

function describeKind (kind: Kind): string {
  switch (kind.type) {
    case 'integer': return `${kind.min} to ${kind.max}`
    case 'choice': return kind.values.map((value) => `\`${value}\``).join(', ')
    case 'switch': return '`1`, `true`, `yes`; `0`, `false`, `no`'
    case 'word': return '1 to 64 visible characters without `:`'
    case 'host': return 'IP address or host name'
    case 'hosts': return 'IP addresses and host names, with commas between them'
    case 'origins': return 'origins (`https://app.example.com`), with commas between them'
    case 'url': return 'http(s) URL with a path, without credentials'
    case 'path': return 'path'
    case 'text': return 'text'
  }
}

function rowsOf (schema: SchemaNode, path: string, required = false): string[] {
  const same = path.includes('.') ? topLevelSectionWith(schema) : undefined
  if (same !== undefined) {
    const banks = path.startsWith('profiles.') ? 'the banks of this profile' : 'this bank'
    return [row([`\`${path}\``, 'a map', `As \`${same}\`, for ${banks}.`])]
  }
  const meaning = `${schema.description ?? ''}${required ? ' Required.' : ''}`
  return [row([`\`${path}\``, allowedOf(schema), meaning]), ...childrenOf(schema, path)]
}

function childrenOf (schema: SchemaNode, path: string): string[] {
  const keyed = Object.entries(schema.properties ?? {}).flatMap(([key, child]) => {
    return rowsOf(child, path === '' ? key : `${path}.${key}`, schema.required?.includes(key))
  })
  // A map without x-keys is passed on unchanged, so its content has no rows.
  const values = schema['x-keys'] === undefined ? [] : Object.values(schema.patternProperties ?? {})
  const named = values.flatMap((child) => rowsOf(child, `${path}.<id>`))
  const listed = schema.items?.properties === undefined ? [] : childrenOf(schema.items, `${path}[]`)
  const branches = (schema.anyOf ?? []).flatMap((branch) => childrenOf(branch, path))
  return [...keyed, ...named, ...listed, ...branches]
}

function allowedOf (schema: SchemaNode): string {
  const keys = schema['x-keys'] === undefined ? '' : `; each key is ${String(schema['x-keys'])}`
  const { items } = schema
  if (items === undefined || items.properties !== undefined) return `${describe(schema)}${keys}`
  return `${describe(schema)}; each item is ${items.enum === undefined ? '' : 'one of '}${describe(items)}${keys}`
}

/** The top-level section with the same schema as a nested section. */
function topLevelSectionWith (schema: SchemaNode): string | undefined {
  const text = withoutDefault(schema)
  return Object.entries(FileSchema.properties).find(([, top]) => (
    top.type === 'object' && withoutDefault(top) === text
  ))?.[0]
}

/** A section of a bank has no defaults: what it leaves out is as for all banks. */
function withoutDefault (schema: SchemaNode): string {
  return JSON.stringify(schema, (key, value: unknown) => key === 'default' ? undefined : value)
}

// A bar would end the cell, and <…> would be taken for HTML.
function row (cells: string[]): string {
  const safe = cells.map((cell) => cell.replaceAll('|', '\\|').replace(/(?<!`[^`]*)<(\w+)>/g, '&lt;$1&gt;'))
  return `| ${safe.join(' | ')} |`
}
