import type { Page } from 'playwright-core'
import { consoleTest, signInAs } from '../browser.js'

const WIDTHS = [360, 768, 1920, 3840]

async function beyond (page: Page): Promise<Record<number, number>> {
  const found: Record<number, number> = {}
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 })
    found[width] = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement
      return scrollWidth - clientWidth
    })
  }
  return found
}

const NONE = Object.fromEntries(WIDTHS.map((width) => [width, 0]))

consoleTest('Memories and the Recall lab fit screens from 360 pixels to 4k, and can be used with the keyboard alone', {
  viewport: { width: 360, height: 800 },
}, async (t, { page, url, client }) => {
  for (let index = 0; index < 30; index++) {
    await client().retain({
      bank_id: 'user-alice',
      content: `Alice drinks tea number ${index}. ${'x'.repeat(300)}`,
      document_id: 'd'.repeat(400),
    })
  }
  await page.goto(url('memories?bank=user-alice'))
  await signInAs(page, 'user:alice')
  const list = page.getByRole('listbox', { name: 'Memories' })
  await list.getByText('number 29').waitFor()
  t.same(await beyond(page), NONE, 'the list')
  await list.focus()
  for (const key of ['ArrowDown', 'ArrowDown', 'PageDown', 'ArrowUp', 'Home', 'ArrowDown', 'Enter']) {
    await page.keyboard.press(key)
  }
  await page.locator('h2:focus', { hasText: 'One memory' }).waitFor()
  await page.locator('.memories-content').getByText('number 28').waitFor()
  await page.getByRole('button', { name: 'Show more before' }).focus()
  await page.keyboard.press('Enter')
  await page.locator('.memories-document-list').getByText('number 0.').waitFor()
  t.same(await beyond(page), NONE, 'a memory')
  await page.getByRole('link', { name: 'Why is it (not) recalled?' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Recall lab' }).waitFor()
  t.match(await page.getByLabel('Id of a memory').inputValue(), /^[0-9a-f-]{36}$/)
  await page.getByLabel('Query').focus()
  await page.keyboard.type('tea')
  await page.keyboard.press('Enter')
  await page.locator('.recall-hit').first().waitFor()
  await page.getByLabel('Compare with a second setting').focus()
  await page.keyboard.press('Space')
  await page.getByRole('button', { name: 'Recall', exact: true }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('list', { name: 'Hits of Setting B' }).waitFor()
  t.same(await beyond(page), NONE, 'two settings')
  await page.getByRole('button', { name: 'Explain', exact: true }).focus()
  await page.keyboard.press('Enter')
  await page.locator('.recall-explanation').waitFor()
  t.same(await beyond(page), NONE, 'an explanation')
})
