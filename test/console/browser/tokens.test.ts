import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { testApp } from '../../helpers/app.js'
import type { TestClock } from '../../helpers/clock.js'
import { hs256 } from '../../helpers/tokens.js'
import { consoleTest, hasNoViolation } from '../browser.js'

const SECRET = 'a secret of at least thirty-two bytes'
const LIFETIME_SECONDS = 60

async function giveToken (page: Page, token: string): Promise<void> {
  await page.getByLabel('Token', { exact: true }).fill(token)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

let clock: TestClock
const tokenOf = (sub: string) => hs256({ sub, exp: clock() / 1000 + LIFETIME_SECONDS }, SECRET)

const withToken = {
  expectedErrors: [/status of 401/],
  start: async (t: Test) => {
    const served = await testApp(t, { auth: { mode: 'jwt_hs256', jwtSecret: SECRET } })
    clock = served.clock
    return { url: await served.app.listen({ host: '127.0.0.1', port: 0 }) }
  },
}

consoleTest('an expired token leads to the sign-in, and back', withToken, async (t, { page, url, client }) => {
  await client({ token: tokenOf('user:alice') }).retain({ bank_id: 'user-alice', content: 'Alice drinks tea.' })
  await page.goto(url('banks?bank=user-alice&days=90'))
  await giveToken(page, tokenOf('user:alice'))
  await page.getByRole('heading', { name: 'Counts' }).waitFor()
  clock.advance((LIFETIME_SECONDS + 1) * 1000)
  await page.getByRole('button', { name: 'Reload', exact: true }).click()
  await page.getByText('The server no longer accepts your credentials.').waitFor()
  t.match(page.url(), /\/console\/banks\?bank=user-alice&days=90$/)
  await giveToken(page, tokenOf('user:alice'))
  await page.getByRole('heading', { name: 'Counts' }).waitFor()
  t.equal(await page.getByLabel('Days').inputValue(), '90')
})

consoleTest('an expired token in an import or a question loses no text', withToken, async (t, { page, url }) => {
  const expire = () => { clock.advance((LIFETIME_SECONDS + 1) * 1000) }
  const path = join(t.testdir(), 'team.ndjson')
  writeFileSync(path, '{"format": "memory-gateway-export", "version": 1}\n{"text": "The team drinks tea."}\n')
  await page.goto(url('memories?bank=user-alice'))
  await giveToken(page, tokenOf('user:alice'))
  await page.getByText('This bank is empty, or does not exist yet.').waitFor()
  await page.getByRole('button', { name: 'Import…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Import' })
  await dialog.getByLabel('File').setInputFiles(path)
  expire()
  await dialog.getByRole('button', { name: 'Import' }).click()
  await page.getByText('The server no longer accepts your credentials.').waitFor()
  await dialog.waitFor({ state: 'hidden' })
  await hasNoViolation(t, page, 'the sign-in before a page')
  await giveToken(page, tokenOf('user:alice'))
  await dialog.getByRole('button', { name: 'Import' }).click()
  await dialog.getByText('Imported: 1;').waitFor()
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()

  await page.getByRole('link', { name: 'Ask', exact: true }).click()
  await page.getByLabel('Question', { exact: true }).fill('What does the team drink?')
  expire()
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await page.getByText('The server no longer accepts your credentials.').waitFor()
  await giveToken(page, tokenOf('user:alice'))
  await page.locator('h1:focus', { hasText: 'Ask' }).waitFor()
  t.equal(await page.title(), 'Ask · Memory Gateway')
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await page.getByRole('region', { name: 'Answer', exact: true }).getByText('The team drinks tea.').waitFor()

  expire()
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await page.getByText('The server no longer accepts your credentials.').waitFor()
  await giveToken(page, tokenOf('user:bob'))
  await page.locator('.identity', { hasText: 'user:bob' }).waitFor()
  t.equal(await page.getByLabel('Question', { exact: true }).inputValue(), '', 'another user starts again')
  t.equal(await page.getByText('The team drinks tea.').count(), 0)
})
