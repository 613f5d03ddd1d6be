import { consoleTest, signInAs } from '../browser.js'

/** One more than a page has. */
const BANKS = 101

consoleTest('a filter that no bank matches says so, and how to search the banks that are not loaded', {
}, async (t, { page, url, client }) => {
  for (let index = 0; index < BANKS; index++) {
    await client().retain({ bank_id: `bank-${String(index).padStart(3, '0')}`, content: 'Alice drinks tea.' })
  }
  await page.goto(url('banks'))
  await signInAs(page, 'user:alice')
  const status = page.getByRole('main').getByRole('status')
  const statusIs = async (text: string) => { await status.getByText(text, { exact: true }).waitFor() }
  await statusIs('100 banks of those loaded')
  for (const [path, label, one] of [
    ['banks', 'Id contains', '1 bank'], ['access', 'Bank contains', '1 row'],
  ] as const) {
    if (path === 'access') await page.getByRole('link', { name: 'Access', exact: true }).click()
    await page.getByLabel(label).fill('bank-100')
    await statusIs('No loaded bank matches the filter. “Load more” loads further banks.')
    await page.getByRole('button', { name: 'Load more' }).click()
    await statusIs(one)
    await page.getByLabel(label).fill('unknown')
    await statusIs('No bank matches the filter.')
  }
  await page.getByRole('link', { name: 'Admin', exact: true }).click()
  await page.getByLabel('Id contains').fill('unknown')
  await statusIs('No bank matches the filter.')
  t.pass('every page')
})
