import type { Page } from 'playwright-core'
import { consoleTest, signInAs } from '../browser.js'

const KEY = { SERVICE_AUTH_MODE: 'api_key', SERVICE_API_KEY: 'the shared secret' }

async function waitForPage (page: Page, title: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: title }).waitFor()
}

async function storageOf (page: Page): Promise<string> {
  return await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }))
}

consoleTest('dev mode asks for an optional principal', {}, async (_t, { page, url }) => {
  await page.goto(url())
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByText('anonymous').waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  for (const principal of ['user:alice', 'user:Łukasz', 'user:日本']) {
    await signInAs(page, principal)
    await page.locator('.identity', { hasText: principal }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
  }
})

consoleTest('credentials are in memory, or in the storage of the tab if asked', {}, async (t, { page, url }) => {
  await page.goto(url('banks'))
  await signInAs(page, 'user:alice')
  await waitForPage(page, 'Banks')
  t.notMatch(await storageOf(page), /alice/)
  await page.reload()
  await waitForPage(page, 'Sign in')

  await page.getByLabel('Stay signed in').check()
  await signInAs(page, 'user:alice')
  await waitForPage(page, 'Banks')
  t.match(await page.evaluate(() => JSON.stringify({ ...sessionStorage })), /alice/)
  t.notMatch(await page.evaluate(() => JSON.stringify({ ...localStorage })), /alice/)
  await page.reload()
  await waitForPage(page, 'Banks')

  await page.getByRole('button', { name: 'Sign out' }).click()
  await waitForPage(page, 'Sign in')
  t.notMatch(await storageOf(page), /alice/)
})

consoleTest('api_key mode asks for the key and a principal, and says what is wrong', {
  env: KEY, expectedErrors: [/status of 401/],
}, async (t, { page, url }) => {
  await page.goto(url('banks?bank=team'))
  await page.getByLabel('API key').fill('wrong')
  await page.getByLabel('Principal').fill('user:alice')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  const failure = page.getByRole('alert')
  await failure.getByText('Invalid or missing API key').waitFor()
  await failure.getByText('unauthenticated').waitFor()
  t.match(await failure.locator('dd code').last().textContent(), /^[0-9a-f-]{36}$/, 'the request id')

  await page.getByLabel('API key').fill(KEY.SERVICE_API_KEY)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await waitForPage(page, 'Banks')
  t.match(page.url(), /\/console\/banks\?bank=team$/, 'the same page as before')
  t.notMatch(`${page.url()} ${await storageOf(page)}`, /secret/)
})

consoleTest('a page that needs the admin token asks for it, and reports a refused one', {
  env: { SERVICE_ADMIN_TOKEN: 'for operators' }, expectedErrors: [/status of 401/],
}, async (t, { page, url }) => {
  await page.goto(url('overview'))
  await signInAs(page, 'user:alice')
  const token = page.getByLabel('Admin token')
  await token.fill('wrong')
  await page.getByRole('button', { name: 'Use the token' }).click()
  await page.getByText('The server has refused the admin token.').waitFor()
  await token.fill('for operators')
  await page.getByRole('button', { name: 'Use the token' }).click()
  await page.getByRole('img', { name: /^Requests per second/ }).waitFor()
  t.notMatch(await storageOf(page), /operators/)
})

consoleTest('the admin token of one user does not serve the next who signs in on the same tab', {
  env: { SERVICE_ADMIN_TOKEN: 'for operators' }, expectedErrors: [/status of 401/],
}, async (t, { page, url }) => {
  await page.goto(url('overview'))
  await page.getByLabel('Stay signed in').check()
  await signInAs(page, 'user:alice')
  await page.getByLabel('Admin token').fill('for operators')
  await page.getByRole('button', { name: 'Use the token' }).click()
  const figures = page.getByRole('img', { name: /^Requests per second/ })
  await figures.waitFor()
  const list = /\/v1\/banks(?:\?|$)/
  const expire = async () => {
    await page.route(list, async (route) => {
      await route.fulfill({ status: 401, json: { detail: 'expired', code: 'unauthenticated' } })
    })
    await page.getByRole('button', { name: /^Bank / }).click()
    await waitForPage(page, 'Sign in')
    await page.unroute(list)
  }
  await expire()
  await signInAs(page, 'user:alice')
  await page.getByRole('link', { name: 'Overview', exact: true }).click()
  await figures.waitFor()
  await expire()
  await signInAs(page, 'user:bob')
  await page.getByRole('link', { name: 'Overview', exact: true }).click()
  await page.getByLabel('Admin token').waitFor()
  t.notMatch(await storageOf(page), /operators/)
})
