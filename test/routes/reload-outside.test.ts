import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { buildApp } from '../../app.js'
import { loadConfig } from '../../lib/config/load.js'
import { refused } from './support.js'

const LLM = 'llm_provider: openai_compatible\nllm_provider_config: {base_url: "http://127.0.0.1:9/v1", model: ' +
  'some-model, api_key_env: MODEL_KEY}\n'

/** A gateway whose configuration is in files of a folder, as when it is started from the command line. */
async function start (t: Test, yaml: string, databaseName: 'DATABASE_URL' | 'SERVICES_PG_DSN' = 'DATABASE_URL') {
  const folder = t.testdir({
    'gateway.yaml': yaml,
    database: 'postgres://user:database-secret-1@db.internal/main\n',
    admin: 'admin-secret-1\n',
    model: 'model-secret-1\n',
    api: 'api-secret-1\n',
  })
  const env = {
    SERVICES_CONFIG_PATH: join(folder, 'gateway.yaml'),
    SERVICE_AUTH_MODE: 'api_key',
    SERVICE_API_KEY_FILE: join(folder, 'api'),
    SERVICE_ADMIN_TOKEN_FILE: join(folder, 'admin'),
    MODEL_KEY_FILE: join(folder, 'model'),
    [`${databaseName}_FILE`]: join(folder, 'database'),
  }
  const log: string[] = []
  const load = () => loadConfig(env, { exists: () => false })
  const app = await buildApp(load(), { log: { stream: { write: (line) => { log.push(line) } } }, reloadConfig: load })
  t.teardown(async () => { await app.close() })
  await app.ready()
  return {
    log,
    write: (name: string, text: string) => { writeFileSync(join(folder, name), text) },
    reload: async () => (
      await app.inject({
        method: 'POST', url: '/v1/admin/reload', headers: { 'x-admin-token': 'admin-secret-1' }, payload: {},
      })
    ),
  }
}

const rows = [['SERVICE_ADMIN_TOKEN', 'admin'], ['SERVICE_API_KEY', 'api'], ['MODEL_KEY', 'model']] as const
for (const [name, file] of rows) {
  await t.test(`another value in the file of ${name} is 409 with the variable and no value`, async (t) => {
    const { log, write, reload } = await start(t, LLM)
    write(file, 'another-secret\n')
    write('gateway.yaml', `${LLM}homeostasis: {recall_max_tokens: 5}\n`)
    for (let count = 0; count < 2; count++) {
      const response = await reload()
      refused(t, response, 409, 'restart_required', { detail: new RegExp(name) })
      t.same(response.json().restart_required, [name])
      t.same(response.json().changed, ['homeostasis.recall_max_tokens', name])
      t.notMatch(response.body, /secret/)
    }
    t.match(log.join(''), `"restart_required":["${name}"]`)
    t.notMatch(log.join(''), /secret/)

    write(file, `${file}-secret-1\n`)
    const response = await reload()
    t.same(
      { status: response.statusCode, body: response.json<unknown>() },
      { status: 200, body: { changed: ['homeostasis.recall_max_tokens'] } },
    )
  })
}

for (const name of ['DATABASE_URL', 'SERVICES_PG_DSN'] as const) {
  await t.test(`another URI of the database in the file of ${name} is reported under that name`, async (t) => {
    const { write, reload } = await start(t, LLM, name)
    write('database', 'postgres://user:another-secret@db.internal/main\n')
    const response = await reload()
    refused(t, response, 409, 'restart_required', {
      detail: `Nothing was changed: a restart is needed for ${name}`, restart_required: [name], changed: [name],
    })
    t.notMatch(response.body, /secret/)
  })
}

await t.test('several secrets and keys of the file that need a restart are reported together', async (t) => {
  const { write, reload } = await start(t, LLM)
  for (const [, file] of rows) write(file, 'another\n')
  write('gateway.yaml', LLM.replace('some-model', 'other-model'))
  t.same((await reload()).json().restart_required, [
    'llm_provider_config.model', 'SERVICE_API_KEY', 'SERVICE_ADMIN_TOKEN', 'MODEL_KEY',
  ])
})

await t.test('a warning that a reload causes is logged once, and again when it returns', async (t) => {
  const { log, write, reload } = await start(t, '')
  // Grants have no effect while access control is off.
  const text = 'access_grants: [{bank_id: a, principal: "user:a", permissions: [read]}]\n'
  const warnings = () => (
    log.filter((line) => JSON.parse(line).level === 40 && /access_grants|access_control/.test(line)).length
  )
  t.equal(warnings(), 0)
  write('gateway.yaml', text)
  t.equal((await reload()).statusCode, 200)
  t.equal(warnings(), 1)
  write('gateway.yaml', `${text}homeostasis: {recall_max_tokens: 5}\n`)
  t.equal((await reload()).statusCode, 200)
  t.equal(warnings(), 1, 'the warning is not new')
  for (const [yaml, count] of [['', 1], [text, 2]] as const) {
    write('gateway.yaml', yaml)
    t.equal((await reload()).statusCode, 200)
    t.equal(warnings(), count)
  }
})
