import { consoleTest, signInAs } from '../browser.js'

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
