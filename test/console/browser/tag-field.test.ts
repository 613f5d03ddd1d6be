import { consoleTest, signInAs } from '../browser.js'

consoleTest('an unconfirmed tag counts, and the click outside it too', {}, async (t, { page, url, client }) => {
  const bank = 'user-alice'
  await page.goto(url(`memories?bank=${bank}`))
  await signInAs(page, 'user:alice')
  await page.getByRole('button', { name: 'Retain…' }).click()
  const retain = page.getByRole('dialog', { name: 'Retain a memory' })
  await retain.getByLabel('Content').fill('Alice drinks tea.')
  await retain.getByLabel('Tags', { exact: true }).fill('drink')
  const clickWhereItIs = async (name: string) => {
    const button = page.getByRole('button', { name, exact: true })
    await button.scrollIntoViewIfNeeded()
    const box = await button.boundingBox()
    if (box !== null) await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2, { delay: 100 })
  }
  await clickWhereItIs('Store')
  await retain.getByText('Stored in one passage').waitFor()
  const { memories } = (await client().listMemories({ bank_id: bank }).pages().next()).value!
  t.match(memories, [{ tags: ['drink'] }])
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Forget…' }).click()
  await page.getByRole('dialog').getByLabel('Tags', { exact: true }).fill('drink')
  await clickWhereItIs('Show a preview')
  await page.getByText('1 memory would be forgotten').waitFor()
  // Back to the choice, and out of it: a page with unsaved input asks before it is left.
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Show a preview', exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog', { name: 'Discard this choice?' }).getByRole('button', { name: 'Discard' }).click()

  await page.goto(url(`recall?bank=${bank}`))
  await signInAs(page, 'user:alice')
  await page.getByLabel('Query').fill('tea')
  await page.getByText('Filters, times and models').click()
  await page.getByLabel('Tags', { exact: true }).fill('drink')
  const asked = page.waitForRequest('**/v1/recall')
  await clickWhereItIs('Recall')
  t.match((await asked).postDataJSON(), { tags: ['drink'] })
  await page.getByRole('button', { name: 'Remove drink' }).waitFor()
  t.equal(await page.getByLabel('Tags', { exact: true }).inputValue(), '')
})
