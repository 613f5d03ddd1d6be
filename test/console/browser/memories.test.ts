import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chooseBank, consoleTest, hasCount, hasNoViolation, signInAs } from '../browser.js'

const DENIED = `
access_control: {enabled: true, default_policy: deny}
access_grants:
  - {bank_id: team, principal: 'user:alice', permissions: [read, write]}
  - {bank_id: team, principal: 'user:carol', permissions: [read]}
`
/** The colours of texts about a success and of warnings in the light theme: --good and --warning of tokens.css. */
const GOOD = 'rgb(27, 107, 58)'
const WARNING = 'rgb(122, 75, 0)'
const colorOf = (element: unknown) => getComputedStyle(element).color

consoleTest('memories are listed, filtered, searched and shared by URL', {}, async (t, { page, url, client }) => {
  const bank = 'user-alice'
  for (const [index, content] of ['Alice arrives in Lyon.', 'Alice drinks tea.', 'Alice plays the cello.'].entries()) {
    await client().retain({
      bank_id: bank,
      content,
      document_id: 'day-1',
      tags: ['diary', `part-${index}`],
      metadata: { index },
      occurred_at: `2026-01-01T10:0${index}:00Z`,
    })
  }
  await client().retain({ bank_id: bank, content: 'Bob repairs bicycles.', source: 'test' })
  await page.goto(url('memories'))
  await signInAs(page, 'user:alice')
  const list = page.getByRole('listbox', { name: 'Memories' })
  await list.getByText('Bob repairs bicycles.').waitFor()
  await hasCount(t, list.getByRole('option'), 4)
  await hasNoViolation(t, page, 'the list')

  await page.locator('summary', { hasText: 'Filters' }).click()
  await page.getByLabel('Tags', { exact: true }).fill('part-1')
  await page.keyboard.press('Enter')
  await page.waitForURL(/tag=part-1/)
  await page.getByText('Filters (1 set)').waitFor()
  await page.waitForFunction(() => document.querySelectorAll('[role=option]').length === 1)
  await hasNoViolation(t, page, 'the filters')
  await page.getByRole('button', { name: 'Clear all filters' }).click()
  await page.getByRole('button', { name: 'Clear all filters', disabled: true }).waitFor()
  await page.getByLabel('Metadata').fill('{"index": 2}')
  await page.getByLabel('Metadata').blur()
  await page.waitForFunction(() => document.querySelectorAll('[role=option]').length === 1)
  await list.getByText('Alice plays the cello.').waitFor()
  t.notMatch(page.url(), /index/, 'the metadata is not in the URL')
  await page.getByLabel('Metadata').fill('[')
  await page.getByText('This is not JSON').waitFor()
  await page.getByRole('button', { name: 'Clear all filters' }).click()
  await page.getByRole('button', { name: 'Clear all filters', disabled: true }).waitFor()
  await page.getByLabel('Document').fill('day-1')
  await page.getByLabel('Document').blur()
  await page.waitForFunction(() => document.querySelectorAll('[role=option]').length === 3)
  await page.getByLabel('Order').selectOption('oldest')
  await page.waitForFunction(() => document.querySelector('[role=option]')?.textContent?.includes('Lyon'))

  await page.getByLabel('Words').fill('tea')
  await page.keyboard.press('Enter')
  const found = page.getByRole('listbox', { name: 'Memories found' })
  await found.getByText('Alice drinks tea.').waitFor()
  t.notMatch(page.url(), /tea/, 'the query is not in the URL')
  await found.focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(/memory=[0-9a-f-]{36}/)
  await page.locator('h2:focus', { hasText: 'One memory' }).waitFor()
  const around = page.locator('.memories-document-list > li')
  await page.locator('.memories-document-list').getByText('Alice arrives in Lyon.').waitFor()
  t.match(await around.allTextContents(), [/Lyon/, /this memory.*tea/, /cello/])
  await hasNoViolation(t, page, 'one memory')
  const shared = page.url()
  t.notMatch(shared, /tea|Alice/)
  await page.keyboard.press('Escape')
  await page.waitForURL((at) => !at.searchParams.has('memory'))
  await page.goto(shared)
  await signInAs(page, 'user:alice')
  await page.locator('.memories-content').getByText('Alice drinks tea.').waitFor()
})

consoleTest('a memory is retained, forgotten after a preview, and restored', {}, async (t, { page, url, client }) => {
  await page.goto(url('memories?bank=user-alice'))
  await signInAs(page, 'user:alice')
  await page.getByText('This bank is empty, or does not exist yet.').waitFor()
  await page.getByRole('button', { name: 'Retain…' }).click()
  const retain = page.getByRole('dialog', { name: 'Retain a memory' })
  await retain.getByLabel('Content').fill('Alice drinks tea.')
  await retain.getByLabel('Tags', { exact: true }).fill('drink')
  await page.keyboard.press('Enter')
  await hasNoViolation(t, page, 'the form of retain')
  await retain.getByRole('button', { name: 'Store' }).click()
  await page.emulateMedia({ colorScheme: 'light' })
  const outcome = retain.getByRole('status').filter({ hasText: 'Stored in one passage' })
  await outcome.waitFor()
  t.equal(await outcome.evaluate(colorOf), GOOD, 'a success does not look like a warning')
  await hasNoViolation(t, page, 'the outcome of retain')
  await page.emulateMedia({ colorScheme: 'light' })
  await retain.getByLabel('Content').fill('Alice drinks tea.')
  await retain.getByRole('button', { name: 'Store' }).click()
  const repeat = retain.getByRole('status').filter({ hasText: 'The bank already has this memory' })
  await repeat.waitFor()
  t.equal(await repeat.evaluate(colorOf), WARNING, 'a repeat is not a success')
  await retain.getByRole('button', { name: 'Close', exact: true }).last().click()
  const { memories: [before] } = (await client().listMemories({ bank_id: 'user-alice' }).pages().next()).value!
  await page.getByRole('listbox').getByText('Alice drinks tea.').click()
  await page.locator('.memories-view').getByRole('button', { name: 'Forget…' }).click()
  const forget = page.getByRole('dialog', { name: 'Forget' })
  await forget.getByText('1 memory would be forgotten').waitFor()
  await forget.getByText('Alice drinks tea.').waitFor()
  await hasNoViolation(t, page, 'what would go')
  await forget.getByRole('button', { name: 'Forget 1 memory' }).click()
  await page.getByText('1 memory is forgotten.').waitFor()
  await page.getByText('This bank is empty, or does not exist yet.').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('listbox').getByText('Alice drinks tea.').waitFor()
  const { memories: [after] } = (await client().listMemories({ bank_id: 'user-alice' }).pages().next()).value!
  t.same(after, before, 'with its id and times')

  await page.getByRole('button', { name: 'Forget…' }).click()
  await page.getByLabel('The whole bank').check()
  await page.getByRole('button', { name: 'Show a preview' }).click()
  const whole = page.getByRole('dialog', { name: 'Forget the whole bank' })
  await whole.getByText('1 memory would be forgotten').waitFor()
  t.ok(await whole.getByRole('button', { name: 'Forget 1 memory' }).isDisabled(), 'not before the bank is typed')
  await whole.getByLabel('Type user-alice to confirm').fill('user-alice')
  await page.keyboard.press('Enter')
  await page.getByText('1 memory is forgotten.').waitFor()
})

consoleTest('a bank is exported and imported, and a wrong line is named', {
  expectedErrors: [/status of 400/],
}, async (t, { page, url, client }) => {
  for (let index = 0; index < 3; index++) await client().retain({ bank_id: 'user-alice', content: `Fact ${index}.` })
  await page.goto(url('memories?bank=user-alice'))
  await signInAs(page, 'user:alice')
  await page.getByRole('button', { name: 'Export…' }).click()
  await page.getByRole('dialog', { name: 'Export' }).getByText('3 memories, ').waitFor()
  await hasNoViolation(t, page, 'an export')
  const [download] = await Promise.all([
    page.waitForEvent('download'), page.getByRole('link', { name: 'Save user-alice.ndjson' }).click(),
  ])
  const folder = t.testdir()
  const path = join(folder, 'user-alice.ndjson')
  await download.saveAs(path)
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  t.equal(lines.length, 4)
  await page.getByRole('button', { name: 'Close', exact: true }).last().click()

  await chooseBank(page, 'user-bob')
  await page.getByText('This bank is empty, or does not exist yet.').waitFor()
  await page.getByRole('button', { name: 'Import…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Import' })
  const wrong = join(folder, 'wrong.ndjson')
  writeFileSync(wrong, `${lines.slice(0, 2).join('\n')}\n{"text": 7, "tags": 8}\n{"text": 9}\n`)
  await dialog.getByLabel('File').setInputFiles(wrong)
  await dialog.getByRole('button', { name: 'Import' }).click()
  const failure = dialog.getByRole('alert')
  await failure.getByText('2 values are not accepted').waitFor()
  for (const field of ['line 3: text', 'line 3: tags']) await failure.getByText(field, { exact: true }).waitFor()
  await dialog.getByText('the lines after it have not been checked').waitFor()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await failure.getByRole('button', { name: 'Copy details' }).click()
  const copied = await page.evaluate<string>('navigator.clipboard.readText()')
  t.match(copied, /line 3: text: .*\n/)
  t.match(copied, /line 3: tags: .*\n[^]*code: invalid_request\n[^]*request id: /)
  await dialog.getByLabel('File').setInputFiles(path)
  await dialog.getByRole('button', { name: 'Import' }).click()
  await dialog.getByText('Imported: 3; skipped: 0;').waitFor()
  await dialog.getByLabel(/When the bank already has the id/).selectOption('overwrite')
  await dialog.getByRole('button', { name: 'Import' }).click()
  await dialog.getByText('overwritten: 3.').waitFor()
  await hasNoViolation(t, page, 'an import')
})

consoleTest('callers learn which operations they may not use', {
  yaml: DENIED, expectedErrors: [/status of 403/],
}, async (t, { page, url, client }) => {
  await client({ principal: 'user:alice' }).retain({ bank_id: 'team', content: 'The team drinks tea.' })
  await page.goto(url('memories?bank=team'))
  await signInAs(page, 'user:carol')
  await page.getByRole('listbox').getByText('The team drinks tea.').click()
  await page.locator('.memories-view').getByRole('button', { name: 'Forget…' }).click()
  const forget = page.getByRole('dialog', { name: 'Forget' })
  await forget.getByText('You need forget on this bank to forget.').waitFor()
  t.ok(await forget.getByRole('button', { name: 'Forget', exact: true }).isDisabled())
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await signInAs(page, 'user:bob')
  await page.getByText("is denied 'read' on bank 'team'").first().waitFor()
  await hasNoViolation(t, page, 'a denial')
})
