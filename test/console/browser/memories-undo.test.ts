import type { Page } from 'playwright-core'
import { consoleTest, hasNoViolation, signInAs } from '../browser.js'

const YAML = `
access_control: {enabled: true, default_policy: deny}
access_grants:
  - {bank_id: team, principal: 'user:writer', permissions: [read, write, forget]}
  - {bank_id: team, principal: 'user:cleaner', permissions: [read, forget]}
  - {bank_id: team, principal: 'user:blind', permissions: [forget]}
`
const writer = { principal: 'user:writer' }
const OCCURRED = '2026-01-01T10:00:00.000Z'
const MEMORY = {
  content: 'The team drinks tea.',
  tags: ['drink'],
  metadata: { cups: 3 },
  occurred_at: OCCURRED,
  document_id: 'day-1',
  source: 'notes',
}

async function forgetByTag (page: Page, tag: string): Promise<void> {
  await page.getByRole('button', { name: 'Forget…' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'What is to be forgotten?' })
  await dialog.getByLabel('Tags to forget', { exact: true }).fill(tag)
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Show a preview' }).click()
}

consoleTest('without admin an undo stores the contents as new memories, which is announced before', {
  yaml: YAML,
}, async (t, { page, url, client }) => {
  const bank = { bank_id: 'team' }
  await client(writer).retain({ ...bank, ...MEMORY })
  await client(writer).retain({ ...bank, content: 'The team meets on Mondays.' })
  const { memories: before } = (await client(writer).listMemories(bank).pages().next()).value!
  await page.goto(url('memories?bank=team'))
  await signInAs(page, 'user:writer')
  await forgetByTag(page, 'drink')
  const dialog = page.getByRole('dialog', { name: 'Forget', exact: true })
  await dialog.getByText('1 memory would be forgotten').waitFor()
  await dialog.getByText('this can be undone in part').waitFor()
  await hasNoViolation(t, page, 'a way back in part')
  await dialog.getByRole('button', { name: 'Forget 1 memory' }).click()
  const notice = page.locator('.memories-undo')
  await notice.getByText('Undo stores the contents again, as new memories with new ids.').waitFor()
  t.equal((await client(writer).getBank(bank)).memory_count, 1)
  await notice.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('listbox').getByText('The team drinks tea.').waitFor()
  await notice.waitFor({ state: 'detached' })
  const { memories: after } = (await client(writer).listMemories(bank).pages().next()).value!
  const [again] = after.filter(({ text }) => text === MEMORY.content)
  const { content, ...rest } = MEMORY
  t.match(again, { text: content, ...rest })
  t.notOk(before.some(({ memory_id: id }) => id === again!.memory_id), 'under a new id')
  t.equal(after.length, before.length)
})

consoleTest('a caller without write learns that there is no undo, and one without read sees no content', {
  yaml: YAML, expectedErrors: [/status of 403/],
}, async (t, { page, url, client }) => {
  for (const tag of ['drink', 'food']) {
    await client(writer).retain({ bank_id: 'team', content: `The team likes ${tag}.`, tags: [tag] })
  }
  await page.goto(url('memories?bank=team'))
  await signInAs(page, 'user:cleaner')
  await forgetByTag(page, 'drink')
  const dialog = page.getByRole('dialog', { name: 'Forget', exact: true })
  await dialog.getByText('The team likes drink.').waitFor()
  await dialog.getByText('This cannot be undone').waitFor()
  await dialog.getByRole('button', { name: 'Forget 1 memory' }).click()
  await page.getByText('1 memory is forgotten.').waitFor()
  t.equal(await page.getByRole('button', { name: 'Undo' }).count(), 0)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await signInAs(page, 'user:blind')
  await forgetByTag(page, 'food')
  await dialog.getByText('You may not read the bank, so the memories are not shown.').waitFor()
  t.equal(await dialog.getByText('The team likes food.').count(), 0)
  await dialog.getByText('This cannot be undone').waitFor()
  await dialog.getByRole('button', { name: 'Forget 1 memory' }).click()
  await page.getByText('1 memory is forgotten.').waitFor()
  t.equal((await client(writer).getBank({ bank_id: 'team' })).memory_count, 0)
})
