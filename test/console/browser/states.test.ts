import type { Page, Route } from 'playwright-core'
import { consoleTest, hasNoViolation, settled, signInAs } from '../browser.js'

/** As long as an id may be, and without a place to break it. */
const BANK = 'x'.repeat(128)
const WIDTHS = [360, 768, 1920, 3840]
const YAML = `
access_control: {enabled: true, default_policy: open}
sources: {build-server: {type: webhook, target_bank: ${BANK}, auth: {type: none}}}
`

interface PageCase {
  title: string
  path: string
  /** What makes the page ask the server, where opening it does not. */
  act?: (page: Page) => Promise<void>
  /** What is on it in the end. */
  shows: (page: Page) => Promise<void>
}

const ask = async (page: Page) => {
  await page.getByLabel('Question', { exact: true }).fill('What does the team drink?')
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
}

const CASES: readonly PageCase[] = [
  {
    title: 'Overview',
    path: 'overview',
    shows: async (page) => { await page.getByRole('img', { name: /^Requests per second/ }).waitFor() },
  },
  {
    title: 'Banks',
    path: 'banks',
    shows: async (page) => { await page.getByRole('table', { name: 'Banks' }).waitFor() },
  },
  {
    title: 'A bank',
    path: `banks?bank=${BANK}`,
    shows: async (page) => { await page.getByText('1 memory from').waitFor() },
  },
  {
    title: 'Memories',
    path: `memories?bank=${BANK}`,
    shows: async (page) => { await page.getByRole('listbox').getByText('The team drinks tea.').waitFor() },
  },
  {
    title: 'Conversations',
    path: `conversations?bank=${BANK}`,
    shows: async (page) => { await page.getByText('The bank has no conversations.').waitFor() },
  },
  {
    title: 'A conversation',
    path: `conversations?bank=${BANK}&conversation=${'c'.repeat(400)}`,
    shows: async (page) => { await page.getByText('This conversation has no messages.').waitFor() },
  },
  {
    title: 'Proposals',
    path: `proposals?bank=${BANK}`,
    shows: async (page) => { await page.getByText('Proposals are off for this bank.').waitFor() },
  },
  {
    title: 'Recall lab',
    path: `recall?bank=${BANK}`,
    act: async (page) => {
      await page.getByLabel('Query').fill('Who drinks tea?')
      await page.keyboard.press('Enter')
    },
    shows: async (page) => { await page.locator('.recall-hit').waitFor() },
  },
  {
    title: 'Ask',
    path: `reflect?bank=${BANK}`,
    act: ask,
    shows: async (page) => { await page.getByText('Total time').waitFor() },
  },
  {
    title: 'Access',
    path: 'access',
    shows: async (page) => { await page.getByRole('table', { name: 'What you may do' }).waitFor() },
  },
  {
    title: 'Access of anyone',
    path: 'access?principal=user:alice&principal=user:bob',
    shows: async (page) => { await page.getByRole('table', { name: 'What the principals may do' }).waitFor() },
  },
  {
    title: 'Rules',
    path: 'access?view=rules',
    shows: async (page) => { await page.getByText('Default policy').waitFor() },
  },
  {
    title: 'Sources',
    path: 'sources',
    shows: async (page) => { await page.getByRole('table', { name: 'Webhook sources' }).waitFor() },
  },
  {
    title: 'Admin',
    path: 'admin',
    shows: async (page) => { await page.getByRole('table', { name: 'All banks' }).waitFor() },
  },
  {
    title: 'A configuration',
    path: `admin?bank=${BANK}`,
    shows: async (page) => { await page.getByRole('table', { name: 'Effective values' }).waitFor() },
  },
]

const FAULT = { detail: 'Something broke', code: 'internal_error', request_id: 'the-request' }

async function fail (route: Route): Promise<void> {
  await route.fulfill({
    status: 500,
    contentType: 'application/json',
    headers: {
      'x-request-id': 'the-request',
    },
    body: JSON.stringify(FAULT),
  })
}

for (const { title, path, act, shows } of CASES) {
  consoleTest(`${title}: loading, failed and loaded, from 360 pixels to 4k`, {
    yaml: YAML, expectedErrors: [/status of 500/],
  }, async (t, { page, url, client }) => {
    await client().retain({ bank_id: BANK, content: 'The team drinks tea.', tags: ['x'.repeat(128)] })
    await page.goto(url())
    await page.getByLabel('Stay signed in').check()
    await signInAs(page, 'user:alice')
    await settled(page)
    // Waiting requests continue when the interception ends, so it is active all the time.
    let answer: (route: Route) => unknown = (route) => held.push(route)
    const held: Route[] = []
    await page.route(/\/v1\/|\/health$/, async (route) => { await answer(route) })
    await page.goto(url(path))
    await act?.(page)
    const main = page.getByRole('main')
    // The spinner may be that of the page's code, which is loaded before its heading is there.
    await main.getByRole('heading', { level: 1 }).waitFor()
    await main.locator('.spinner').first().waitFor()
    await hasNoViolation(t, page, 'on its way')

    answer = fail
    // The requests of a page that was left have no recipient.
    for (const route of held) await fail(route).catch(() => {})
    const failure = main.getByRole('alert').first()
    for (const text of ['Something broke', 'internal_error', 'the-request']) {
      await failure.getByText(text, { exact: true }).first().waitFor()
    }
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await failure.getByRole('button', { name: 'Copy details' }).click()
    await failure.getByRole('button', { name: 'Copied' }).waitFor()
    t.match(
      await page.evaluate('navigator.clipboard.readText()'),
      /Something broke\ncode: internal_error\nstatus: 500\nrequest id: the-request/,
    )
    await hasNoViolation(t, page, 'failed')

    answer = async (route: Route) => { await route.continue() }
    for (;;) {
      const retry = main.getByRole('button', { name: 'Try again' }).first()
      if (await retry.count() === 0) break
      const card = await retry.elementHandle()
      await retry.click()
      await card?.waitForElementState('hidden')
    }
    if (await failure.count() > 0) await act?.(page)
    await shows(page)
    t.equal(await failure.count(), 0)
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 })
      const beyond = await page.evaluate(() => {
        const { scrollWidth, clientWidth } = document.documentElement
        return scrollWidth - clientWidth
      })
      t.ok(beyond <= 0, `${width} pixels: ${beyond} too wide`)
    }
  })
}
