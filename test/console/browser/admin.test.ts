import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { startServer } from '../../helpers/server.js'
import { consoleTest, hasNoViolation, signInAs, storeSettings } from '../browser.js'

const HOSTILE = '<script>alert(1)</script> user\u202egnp'

let writeConfig: (yaml: string) => void

/** A server whose configuration file the test can change. */
const withFile = {
  start: async (t: Test) => {
    const folder = mkdtempSync(join(tmpdir(), 'console-'))
    t.teardown(() => { rmSync(folder, { recursive: true }) })
    const path = join(folder, 'config.yaml')
    const store = await storeSettings(t)
    writeConfig = (yaml) => { writeFileSync(path, `${yaml}\n${store.yaml ?? ''}\n`) }
    writeConfig('homeostasis: {recall_max_tokens: 500}\n')
    return await startServer(t, { ...store.env, SERVICES_CONFIG_PATH: path })
  },
}

consoleTest('the banks of all tenants, and the reset of a ' +
  'configuration', withFile, async (t, { page, url, client }) => {
  await client().retain({ bank_id: 'team', content: 'We meet on Mondays.' })
  await client().retain({ bank_id: 'user-bob', content: 'Bob rows.' })
  await client({ principal: 'user:bob' }).putBankConfig({
    bank_id: 'team', config: { description: HOSTILE, homeostasis: { recall_max_tokens: 300 } },
  })
  await page.goto(url('admin'))
  await signInAs(page, 'user:alice')
  await page.getByText('2 banks with 2 memories').waitFor()
  await hasNoViolation(t, page, 'administration')
  await page.getByLabel('Id contains').fill('tea')
  await page.getByText('1 bank with 1 memory').waitFor()
  await page.getByRole('link', { name: 'Configuration of team' }).click()
  const own = page.getByRole('region', { name: 'Set by the admins of the bank' })
  await own.getByText('user:bob').waitFor()
  await own.getByText('<script>alert(1)</script>').waitFor()
  await own.getByText('(U+202E right-to-left override)').waitFor()
  const values = page.getByRole('table', { name: 'Effective values' })
  await page.getByLabel('Name contains').fill('recall_max')
  t.match(await values.getByRole('row').nth(1).textContent(), /homeostasis\.recall_max_tokens300bank/)
  await hasNoViolation(t, page, 'a configuration')
  await page.setViewportSize({ width: 360, height: 740 })
  t.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360, 'nothing is wider than the screen')
  t.equal(await page.locator('main script').count(), 0)

  await own.getByRole('button', { name: 'Reset' }).click()
  const dialog = page.getByRole('dialog', { name: 'Reset the configuration' })
  const confirm = dialog.getByRole('button', { name: 'Reset' })
  t.ok(await confirm.isDisabled())
  await hasNoViolation(t, page, 'the confirmation')
  await dialog.getByLabel('Type team to confirm').fill('team')
  await confirm.click()
  await own.getByText('Nothing is set.').waitFor()
  t.match(await values.getByRole('row').nth(1).textContent(), /homeostasis\.recall_max_tokens500file/)
})

consoleTest('the configuration file is applied, and its problems are shown', {
  ...withFile, expectedErrors: [/status of 400/, /status of 409/],
}, async (t, { page, url }) => {
  await page.goto(url('admin'))
  await signInAs(page, 'user:alice')
  const card = page.getByRole('region', { name: 'Configuration file' })
  const apply = card.getByRole('button', { name: 'Reload the file' })
  await apply.click()
  await card.getByText('Nothing has changed').waitFor()
  writeConfig('homeostasis: {recall_max_tokens: 400}\n')
  await apply.click()
  await card.getByText('homeostasis.recall_max_tokens').waitFor()
  await card.getByText('1 change is in effect').waitFor()
  writeConfig('homeostasis: {recall_max_tokens: lots}\n')
  await apply.click()
  await card.getByText('configuration_invalid', { exact: true }).waitFor()
  await hasNoViolation(t, page, 'a file with a problem')
  writeConfig('homeostasis: {recall_max_tokens: 400}\nllm_provider: openai_compatible\n')
  await apply.click()
  await card.locator('.failure').waitFor()
  await page.getByRole('link', { name: 'Open the metrics' }).waitFor()
})

const SECRET = 'a secret of the webhook'
const SOURCES = `
sources:
  ci-1:
    type: webhook
    target_bank: team
    auth: {type: hmac, secret: ${SECRET}}
`

consoleTest('sources are shown with their health, last event and counts', {
  env: { SERVICE_ADMIN_TOKEN: SECRET.repeat(2) }, yaml: SOURCES, expectedErrors: [/status of 401/],
}, async (t, { page, url }) => {
  await page.goto(url('sources'))
  await signInAs(page, 'user:alice')
  await page.getByText('The list of sources needs the admin token').waitFor()
  await hasNoViolation(t, page, 'the admin token is asked for')
  await page.getByLabel('Admin token').fill(SECRET.repeat(2))
  await page.keyboard.press('Enter')
  const row = page.getByRole('row').filter({ hasText: 'ci-1' })
  await row.getByText('no event yet').waitFor()
  const send = async (signature: (body: string) => string) => {
    const body = JSON.stringify({ text: 'The build is green.' })
    const { status } = await fetch(new URL('/v1/ingest/webhook/ci-1', page.url()), {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'x-signature-256': `sha256=${signature(body)}` },
    })
    return status
  }
  t.equal(await send((body) => createHmac('sha256', SECRET).update(body).digest('hex')), 200)
  await page.getByRole('button', { name: 'Reload', exact: true }).click()
  await row.getByText('healthy', { exact: true }).waitFor()
  t.equal(await send(() => '00'), 401)
  await page.getByRole('button', { name: 'Reload', exact: true }).click()
  await page.waitForFunction(() => /11/.test(document.querySelector('tbody')?.textContent ?? ''))
  t.equal(await row.getByRole('cell').nth(3).textContent(), '1', 'one is rejected')
  await hasNoViolation(t, page, 'the sources')
})

consoleTest('a server without sources has its own message', {}, async (t, { page, url }) => {
  await page.goto(url('sources'))
  await signInAs(page, 'user:alice')
  await page.getByText('No source is configured.').waitFor()
  await hasNoViolation(t, page, 'no source')
})
