import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import type { MemoryGatewayClient } from '../../packages/client/src/index.js'
import { consoleTest, settled } from './browser.js'
import { ADMIN, yamlFor } from './every-page.js'
import { Keys } from './keys.js'

const SETTINGS = { env: { SERVICE_ADMIN_TOKEN: ADMIN }, yaml: yamlFor('user:alice') }

export interface Walk { page: Page, keys: Keys, client: MemoryGatewayClient }

/** A page that is opened, used and left with the keyboard alone. The mouse of the browser is never moved. */
export function walkTest (
  title: string, run: (t: Test, walk: Walk) => Promise<void>, name = title,
): void {
  consoleTest(`${name}, with the keyboard alone`, SETTINGS, async (t, { page, url, client }) => {
    const keys = new Keys(t, page)
    const alice = client({ principal: 'user:alice' })
    for (const content of ['The team meets on Mondays.', 'The team drinks tea.']) {
      await alice.retain({ bank_id: 'team', content, tags: ['fact'], document_id: 'day-1' })
    }
    await page.goto(url())
    await keys.use(page.getByRole('link', { name: 'Skip to the content' }))
    await keys.isAt(page.locator('main'), 'the content')
    await keys.fill(page.getByLabel('Principal'), 'user:alice')
    await keys.press('Enter')
    await page.locator('.identity', { hasText: 'user:alice' }).waitFor()
    await keys.use(page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: title }))
    // The first page is open already.
    if (title !== 'Memories') {
      await keys.isAt(page.getByRole('heading', { level: 1, name: title }), `the title of ${title}`)
    }
    await settled(page)
    await run(t, { page, keys, client: alice })
    await keys.around(title)
    t.same([...keys.faults], [], 'every stop is visible')
  })
}

export async function giveAdminToken ({ page, keys }: Walk): Promise<void> {
  await keys.fill(page.getByLabel('Admin token'), ADMIN)
  await keys.press('Enter')
  await page.getByLabel('Admin token').waitFor({ state: 'detached' })
}

export async function chooseBank ({ page, keys }: Walk): Promise<void> {
  const opener = page.getByRole('button', { name: /^Bank / })
  await keys.to(opener, 'Shift+Tab')
  await keys.press('Enter')
  await keys.isAt(page.getByLabel('Bank id'), 'the field of the dialog')
  await keys.type('team')
  await keys.press('Enter')
  await page.waitForURL(/bank=team/)
  await keys.isAt(opener, 'back from the dialog')
}
