import type { Page } from 'playwright-core'
import { consoleTest, hasNoViolation, signInAs } from '../browser.js'

/** Far longer than the test waits: a page that waits for it in silence would show nothing. */
const RETRY_AFTER_SECONDS = 3600
const REFUSALS = [
  [429, 'rate_limited', 'There were too many requests.'],
  [503, 'dependency_unavailable', 'A service that the server depends on is down.'],
] as const

async function refuseAll (page: Page, status: number, code: string): Promise<void> {
  await page.route('**/v1/**', async (route) => {
    await route.fulfill({
      status,
      contentType: 'application/json',
      headers: { 'retry-after': String(RETRY_AFTER_SECONDS), 'x-request-id': 'the-request' },
      body: JSON.stringify({
        detail: 'Not now', code, request_id: 'the-request', retry_after_seconds: RETRY_AFTER_SECONDS,
      }),
    })
  })
}

for (const [status, code, advice] of REFUSALS) {
  consoleTest(`status ${status} is shown at once, with the time of the next attempt`, {
    expectedErrors: [new RegExp(`status of ${status}`)],
  }, async (t, { page, url, client }) => {
    await client().retain({ bank_id: 'user-alice', content: 'Alice drinks tea.' })
    await page.goto(url('memories?bank=user-alice'))
    await signInAs(page, 'user:alice')
    const list = page.getByRole('listbox', { name: 'Memories' })
    await list.getByText('Alice drinks tea.').waitFor()
    await refuseAll(page, status, code)
    await page.getByRole('button', { name: 'Reload', exact: true }).click()
    const failure = page.getByRole('main').getByRole('alert').first()
    await failure.getByText(advice).waitFor()
    await failure.getByText('Try again in 3,600 seconds.').waitFor()
    await failure.getByText('the-request').waitFor()
    await hasNoViolation(t, page, `status ${status}`)
    await page.unroute('**/v1/**')
    await failure.getByRole('button', { name: 'Try again' }).click()
    await list.getByText('Alice drinks tea.').waitFor()
  })
}
