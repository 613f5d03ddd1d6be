import { consoleTest, hasNoViolation, signInAs } from '../browser.js'

const BANK = 'user-alice'
const ITEMS = Array.from({ length: 12 }, (_, index) => ({
  content: `Carol says number ${index}.`, speaker: 'Carol', document_id: 'talk', metadata: { index },
}))
const OTHERS = [
  { content: 'Alice drinks tea.', speaker: 'Alice', occurred_at: '2024-05-01T10:00:00Z' },
  { content: 'Alice drinks coffee.', speaker: 'Alice', occurred_at: '2026-05-01T10:00:00Z' },
]

consoleTest('what the filter shows is forgotten after a preview of its count and first ten', {}, async (
  t, { page, url, client },
) => {
  await client().retainBatch({ bank_id: BANK, items: [...ITEMS, ...OTHERS] })
  await page.goto(url(`memories?bank=${BANK}&speaker=Carol&min_trust=trusted`))
  await signInAs(page, 'user:alice')
  await page.getByRole('button', { name: 'Forget…' }).click()
  const choice = page.getByRole('dialog', { name: 'What is to be forgotten?' })
  await choice.getByText('Memories cannot be forgotten by trust').waitFor()
  t.ok(await choice.getByLabel('What the filter shows').isDisabled(), 'more would be forgotten than is shown')
  await hasNoViolation(t, page, 'a filter by which nothing can be forgotten')
  await page.keyboard.press('Escape')
  await page.locator('summary', { hasText: 'Filters' }).click()
  await page.getByLabel('Minimum trust').selectOption('any')
  await page.getByRole('button', { name: 'Forget…' }).click()
  t.ok(await choice.getByLabel('What the filter shows').isChecked())
  await choice.getByRole('button', { name: 'Show a preview' }).click()
  const preview = page.getByRole('dialog', { name: 'Forget', exact: true })
  await preview.getByText('12 memories would be forgotten').waitFor()
  t.equal(await preview.getByRole('list').getByText('Carol says number').count(), 10)
  await preview.getByText('and 2 more.').waitFor()
  await preview.getByRole('button', { name: 'Forget 12 memories' }).click()
  await page.getByText('12 memories are forgotten.').waitFor()
  t.equal((await client().getBank({ bank_id: BANK })).memory_count, OTHERS.length, 'the others stay')
})

consoleTest('memories are forgotten by speaker, document, metadata and time', {}, async (t, { page, url, client }) => {
  await client().retainBatch({ bank_id: BANK, items: [...ITEMS, ...OTHERS] })
  await page.goto(url(`memories?bank=${BANK}`))
  await signInAs(page, 'user:alice')
  await page.getByRole('button', { name: 'Forget…' }).click()
  const choice = page.getByRole('dialog', { name: 'What is to be forgotten?' })
  const preview = page.getByRole('dialog', { name: 'Forget', exact: true })
  const show = choice.getByRole('button', { name: 'Show a preview' })
  t.equal(await choice.getByLabel('What the filter shows').count(), 0, 'there is no filter')
  t.ok(await show.isDisabled(), 'nothing is chosen')
  const counts = async (expected: string) => {
    await preview.getByText(`${expected} would be forgotten`).waitFor()
    await page.keyboard.press('Escape')
    await preview.waitFor({ state: 'hidden' })
  }
  await hasNoViolation(t, page, 'the filters of a forget')
  await choice.getByLabel('Document', { exact: true }).fill('talk')
  await choice.getByLabel('Document', { exact: true }).blur()
  await show.click()
  await counts('12 memories')
  await choice.getByLabel('Metadata', { exact: true }).fill('{"index": 3')
  await show.click()
  await choice.getByText('This is not JSON').waitFor()
  t.equal(await preview.isVisible(), false, 'what is not valid is not left out')
  await choice.getByLabel('Metadata', { exact: true }).fill('{"index": 3}')
  await show.click()
  await counts('1 memory')
  await choice.getByLabel('Metadata', { exact: true }).fill('')
  await choice.getByLabel('Document', { exact: true }).fill('')
  await choice.getByLabel('Speakers').fill('Alice')
  await choice.getByLabel('Occurred before').fill('2025-01-01T00:00')
  await show.click()
  await preview.getByText('Alice drinks tea.').waitFor()
  await preview.getByRole('button', { name: 'Forget 1 memory' }).click()
  await page.getByText('1 memory is forgotten.').waitFor()
  t.equal((await client().getBank({ bank_id: BANK })).memory_count, ITEMS.length + 1)
})
