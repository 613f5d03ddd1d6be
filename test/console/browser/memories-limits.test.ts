import { consoleTest, hasNoViolation, signInAs } from '../browser.js'

const MORE_THAN_CONSIDERED = 210

consoleTest('a text is stored as it was pasted, or refused by the server', {
  yaml: 'barriers: {validation: {max_content_length: 60000}}', expectedErrors: [/status of 400/],
}, async (t, { page, url, client }) => {
  await page.goto(url('memories?bank=user-alice'))
  await signInAs(page, 'user:alice')
  await page.getByRole('button', { name: 'Retain…' }).click()
  const retain = page.getByRole('dialog', { name: 'Retain a memory' })
  // Each emoji is one character of two code units.
  for (const text of ['word '.repeat(11_000).trim(), '😀'.repeat(30_000)]) {
    await retain.getByLabel('Content').focus()
    await page.keyboard.insertText(text)
    await retain.getByRole('button', { name: 'Store' }).click()
    await retain.getByText(/^Stored in/).waitFor()
    const { memories: [memory] } = (await client().listMemories({ bank_id: 'user-alice' }).pages().next()).value!
    t.ok(memory!.text === text, `${text.slice(0, 4)}: ${memory!.text.length} of ${text.length}`)
  }
  await retain.getByLabel('Content').fill('Alice drinks tea.')
  await retain.getByLabel('Tags', { exact: true }).focus()
  await page.keyboard.insertText('t'.repeat(129))
  await retain.getByRole('button', { name: 'Store' }).click()
  await retain.getByRole('alert').getByText(/tags/).first().waitFor()
  t.equal((await client().getBank({ bank_id: 'user-alice' })).memory_count, 2)
})

consoleTest('a search that finds nothing says what it has considered', {}, async (t, { page, url, client }) => {
  const items = Array.from({ length: MORE_THAN_CONSIDERED }, (_, index) => (
    { content: `boat ${index}`, document_id: 'first', tags: ['short'] }
  ))
  const last = { content: 'A report of the weather, the prices of fish and, once, a boat.', document_id: 'second' }
  await client().retainBatch({ bank_id: 'user-alice', items: [...items, last] })
  await page.goto(url('memories?bank=user-alice&document=second'))
  await signInAs(page, 'user:alice')
  const search = async (words: string) => {
    await page.getByLabel('Words').fill(words)
    await page.keyboard.press('Enter')
  }
  await search('boat')
  await page.getByText('None of the 200 best of 211 memories with these words passes the filters.').waitFor()
  await hasNoViolation(t, page, 'nothing among those considered')
  await search('weather')
  await page.getByRole('listbox', { name: 'Memories found' }).getByText('A report of the weather').waitFor()
  await search('train')
  await page.getByText('No memory with these words passes the filters.').waitFor()
  await page.getByText('Filters (1 set)').click()
  await page.getByRole('button', { name: 'Clear all filters' }).click()
  await page.getByText('No memory has these words.').waitFor()
  await search('boat')
  await page.getByText('200 memories, best first; the 200 best of 211 are considered.').waitFor()
  t.equal(await page.getByRole('listbox', { name: 'Memories found' }).count(), 1)
})
