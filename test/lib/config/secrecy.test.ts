/* eslint no-template-curly-in-string: off -- ${NAME} is what the configuration file has in its texts */
import fc from '../../helpers/fast-check.js'
import t from 'tap'
import type { Environment } from '../../../lib/config/environment.js'
import { problemsOf, load, loadCommand, loadYaml, type Files } from './load-with.js'

// Long and odd enough that no sentence holds one by chance.
const secret = fc.string({ minLength: 8, maxLength: 60, unit: 'grapheme-ascii' }).map((text) => `Zq${text}9x`)
const SECRETS = [
  'SERVICE_API_KEY', 'SERVICE_JWT_SECRET', 'SERVICE_ADMIN_TOKEN', 'DATABASE_URL', 'SERVICES_PG_DSN',
  'MIGRATE_DATABASE_URL',
]
// Something is always wrong, so that there is a message to look at.
const WRONG = { SERVICES_PORT: 'x', SERVICES_CONFIG_PATH: '/nowhere' }

/** As the server does, or as the one command that uses the variable. */
function loadWith (name: string, env: Environment, files?: Files): unknown {
  return name === 'MIGRATE_DATABASE_URL' ? loadCommand(env, { keys: [], migrates: true }, files) : load(env, files)
}

function says (run: () => unknown, text: string): boolean {
  const problems = problemsOf(run)
  if (problems.length === 0) throw new Error('Nothing was wrong')
  const message = problems.join('\n')
  return message.includes(text) || message.includes(JSON.stringify(text).slice(1, -1))
}

function never (property: (text: string) => boolean) {
  fc.assert(fc.property(secret, (text) => !property(text)), { numRuns: 50 })
}

await t.test('the value of a secret variable is in no message', async (t) => {
  for (const name of SECRETS) {
    never((text) => says(() => loadWith(name, { ...WRONG, [name]: text }), text))
    never((text) => says(() => loadWith(name, { [name]: text, [`${name}_FILE`]: '/k' }, { '/k': text }), text))
    never((text) => says(() => loadWith(name, { ...WRONG, [`${name}_FILE`]: '/k' }, { '/k': text }), text))
    t.pass(name)
  }
  never((text) => says(() => load({ DATABASE_URL: text, SERVICES_PG_DSN: 'other' }), text))
})

await t.test('a secret in place of the path of its file is in no message', async () => {
  for (const name of SECRETS) never((text) => says(() => loadWith(name, { [`${name}_FILE`]: text }), text))
})

await t.test('a secret under a misspelt name is in no message', async () => {
  for (const name of ['SERVICE_API_KEYS', 'SERVICES_JWT_SECRET', 'DATABSE_URL', 'SERVICE_ADMIN_TOKEN_FIEL']) {
    never((text) => says(() => load({ [name]: text }), text))
  }
})

await t.test('a connection URI in a variable that is shown is in no message', async () => {
  const password = fc.stringMatching(/^Zq[A-Za-z0-9]{10}$/)
  for (const name of [
    'SERVICES_HOST', 'SERVICES_PORT', 'SERVICES_CONFIG_PATH', 'SERVICE_AUTH_MODE', 'SERVICE_OIDC_JWKS_URL',
    'SERVICES_LOG_LEVEL',
  ]) {
    fc.assert(fc.property(password, (text) => !says(() => load({ [name]: `postgres://user:${text}@db/main` }), text)))
  }
})

await t.test('no message quotes a substituted value, whatever its place in the file', async () => {
  const places = [
    'vector_store: [${S}]', 'access_control: {enabled: "${S}"}', 'access_control: {default_policy: "${S}"}',
    'access_control: {default_policy: "owner${S}"}', 'homeostasis: {recall_max_tokens: "${S}"}', 'homeostasis: "${S}"',
    'access_grants: "${S}"', 'access_grants: [{bank_id: "a ${S}", principal: 5, permissions: ["${S}"]}]',
    'banks: {a: "${S}"}', 'sources: {s: {type: "${S}", target_bank: "- ${S}", auth: {type: "${S}"}}}',
    'sources: {s: {type: webhook, target_bank: b, auth: {type: hmac, secret: "${S}", header: "${S} "}}}',
    'sources: {s: {type: webhook, target_bank: b, auth: "${S}"}}', '"${S}"', 'nonsense: "${S}"',
    'access_control: {default_policy: &a "${S}", enabled: *a}',
  ]
  for (const yaml of places) never((text) => says(() => loadYaml(yaml, { ...WRONG, S: text }), text))
})

await t.test('a value that is written in the file is in no message when its key sounds secret', async () => {
  const places: ((text: string) => string)[] = [
    (text) => `vector_store_config: ${text}`,
    (text) => `llm_provider_config: [${text}]`,
    (text) => `sources: {s: {type: webhook, target_bank: b, auth: {type: hmac, secret: [${text}]}}}`,
    (text) => `sources: {s: {type: webhook, target_bank: b, auth: {type: none, secret: ${text}}}}`,
    (text) => `sources: {s: {type: webhook, target_bank: b, auth: ${text}}}`,
    (text) => `api_key: ${text}`,
    (text) => `homeostasis: {recall_max_tokens: ${text}}`,
    (text) => `banks: {the-password: {access: [{principal: p, permissions: [${text}]}]}}`,
  ]
  for (const place of places) never((text) => says(() => loadYaml(place(JSON.stringify(text)), WRONG), text))
})

await t.test('a fault of syntax quotes nothing of the file', async () => {
  const texts: ((text: string) => string)[] = [
    (text) => `sources: {s: {auth: {secret: "${text}`,
    (text) => `secret: *${text}`,
    (text) => `secret: !${text} x`,
    (text) => `secret: a: ${text}`,
    (text) => `secret: "a"${text}`,
    (text) => `- a\n${text}: 1`,
    (text) => `secret: |${text}`,
    (text) => `%${text}\n---\na: 1`,
  ]
  const word = fc.stringMatching(/^Zq[A-Za-z0-9]{10}$/)
  for (const make of texts) fc.assert(fc.property(word, (text) => !says(() => loadYaml(make(text), WRONG), text)))
})

await t.test('warnings contain no secret either', async (t) => {
  fc.assert(fc.property(secret, (text) => {
    const env = Object.fromEntries(
      SECRETS.filter((name) => name !== 'SERVICES_PG_DSN').map((name) => [name, ` ${text} `]),
    )
    const { warnings } = loadYaml('vector_store_config: {dsn: "${SERVICE_API_KEY}"}', {
      ...env, SERVICE_AUTH_MODE: 'jwt',
    })
    return warnings.length > 0 && !warnings.join('\n').includes(text)
  }))
  t.pass('every configuration')
})
