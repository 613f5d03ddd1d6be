import type { Page } from 'playwright-core'
import { chooseBank, consoleTest, hasNoViolation, signInAs } from '../browser.js'
import { Gate } from '../gate.js'
import { Keys } from '../keys.js'

const BANK = 'user-alice'
const CONTENT = 'Alice drinks tea, and never coffee.'

async function open (page: Page, opener: string, title: string) {
  await page.getByRole('button', { name: opener }).click()
  return page.getByRole('dialog', { name: title })
}

consoleTest('a memory that is not stored yet is discarded only after a question', {}, async (t, { page, url }) => {
  await page.goto(url(`memories?bank=${BANK}`))
  await signInAs(page, 'user:alice')
  const keys = new Keys(t, page)
  const opener = page.getByRole('button', { name: 'Retain…' })
  const retain = await open(page, 'Retain…', 'Retain a memory')
  const question = page.getByRole('dialog', { name: 'Discard this memory?' })
  const content = retain.getByLabel('Content')
  const isKept = async (how: string) => {
    await question.waitFor({ state: 'hidden' })
    t.equal(await content.inputValue(), CONTENT, how)
  }
  await page.keyboard.press('Escape')
  await retain.waitFor({ state: 'hidden' })
  t.equal(await question.isVisible(), false, 'there is nothing to discard')

  await opener.click()
  await content.fill(CONTENT)
  await page.keyboard.press('Escape')
  await question.waitFor()
  await hasNoViolation(t, page, 'the question')
  await keys.use(question.getByRole('button', { name: 'Keep editing' }))
  await isKept('Keep editing')
  await keys.isAt(content, 'back where it was')

  for (const what of ['1', '2', '3']) {
    await page.keyboard.press('Escape')
    await question.waitFor()
    await page.keyboard.press('Escape')
    await isKept(`Escape, time ${what}`)
  }
  await keys.isAt(content, 'back where it was')
  // A gesture for going back closes a dialog without asking its page.
  await retain.evaluate((dialog) => { (dialog as unknown as { close: () => void }).close() })
  await question.getByRole('button', { name: 'Keep editing' }).click()
  await isKept('closed by the browser')
  await retain.getByRole('button', { name: 'Close', exact: true }).first().click()
  await question.getByRole('button', { name: 'Keep editing' }).click()
  await isKept('the button in the corner')
  await retain.getByRole('button', { name: 'Close', exact: true }).last().click()
  await keys.use(question.getByRole('button', { name: 'Discard' }))
  await retain.waitFor({ state: 'hidden' })
  await keys.isAt(opener, 'back from the dialog')
  await keys.press('Enter')
  await content.waitFor()
  t.equal(await content.inputValue(), '')

  await retain.getByLabel('Tags', { exact: true }).fill('drink')
  await page.keyboard.press('Escape')
  await question.getByRole('button', { name: 'Keep editing' }).click()
  await retain.getByRole('button', { name: 'Remove drink' }).waitFor()
  await content.fill(CONTENT)
  await retain.getByRole('button', { name: 'Store' }).click()
  await retain.getByText('Stored in one passage').waitFor()
  await keys.use(retain.getByRole('link', { name: 'Open it' }))
  await retain.waitFor({ state: 'hidden' })
  await page.locator('.memories-content').getByText(CONTENT).waitFor()
  await keys.isAt(page.getByRole('heading', { name: 'One memory' }), 'the memory that was stored')

  await opener.click()
  await content.fill('Alice rows.')
  await retain.getByRole('button', { name: 'Store' }).click()
  await retain.getByText('Stored in one passage').waitFor()
  await page.keyboard.press('Escape')
  await retain.waitFor({ state: 'hidden' })
  t.equal(await question.isVisible(), false, 'a memory that is stored is not lost')
})

consoleTest('a list of ids to forget is discarded only after a question', {}, async (t, { page, url }) => {
  await page.goto(url(`memories?bank=${BANK}&tag=drink`))
  await signInAs(page, 'user:alice')
  const choice = await open(page, 'Forget…', 'What is to be forgotten?')
  const question = page.getByRole('dialog', { name: 'Discard this choice?' })
  t.ok(await choice.getByLabel('What the filter shows').isChecked())
  await page.keyboard.press('Escape')
  await choice.waitFor({ state: 'hidden' })
  t.equal(await question.isVisible(), false, 'the filter is not lost')

  const id = '3fa85f64-5717-4562-b3fc-2c963f66afa6'
  await page.getByRole('button', { name: 'Forget…' }).click()
  await choice.getByLabel('By their ids').check()
  await choice.getByLabel('Ids', { exact: true }).fill(id)
  await page.keyboard.press('Escape')
  await question.getByRole('button', { name: 'Keep editing' }).click()
  t.equal(await choice.getByLabel('Ids', { exact: true }).inputValue(), id)
  await choice.getByRole('button', { name: 'Cancel' }).click()
  await question.getByRole('button', { name: 'Discard' }).click()
  await choice.waitFor({ state: 'hidden' })
})

consoleTest('what is to be forgotten stays in the form when its preview is cancelled', {}, async (t, opened) => {
  const { page, url, client } = opened
  const bank = { bank_id: BANK }
  const { memory_id: id } = await client().retain({ ...bank, content: CONTENT })
  await page.goto(url(`memories?bank=${BANK}`))
  await signInAs(page, 'user:alice')
  const choice = await open(page, 'Forget…', 'What is to be forgotten?')
  await choice.getByLabel('By their ids').check()
  await choice.getByLabel('Ids', { exact: true }).fill(id)
  const preview = page.getByRole('dialog', { name: 'Forget', exact: true })
  for (const button of ['Cancel', 'Close']) {
    await choice.getByRole('button', { name: 'Show a preview' }).click()
    await preview.getByText('1 memory would be forgotten').waitFor()
    await hasNoViolation(t, page, 'the preview above the choice')
    await preview.getByRole('button', { name: button }).click()
    await preview.waitFor({ state: 'hidden' })
    t.equal(await choice.getByLabel('Ids', { exact: true }).inputValue(), id, button)
  }
  await choice.getByRole('button', { name: 'Show a preview' }).click()
  await preview.getByRole('button', { name: 'Forget 1 memory' }).click()
  await page.getByText('1 memory is forgotten.').waitFor()
  t.equal(await page.getByRole('dialog').count(), 0, 'both dialogs are closed')
  t.equal((await client().getBank(bank)).memory_count, 0)
})

consoleTest('Back and Forward ask before they discard a memory', {}, async (t, { page, url }) => {
  await page.goto(url('memories?bank=user-bob'))
  await signInAs(page, 'user:alice')
  for (const bank of ['user-carol', BANK]) {
    await chooseBank(page, bank)
    await page.waitForURL(new RegExp(`bank=${bank}$`))
  }
  const retain = await open(page, 'Retain…', 'Retain a memory')
  const content = retain.getByLabel('Content')
  const question = page.getByRole('dialog', { name: 'Discard this memory?' })
  await content.fill(CONTENT)
  for (const go of ['back()', 'back()', 'go(-2)']) {
    await page.evaluate(`history.${go}`)
    await question.getByRole('button', { name: 'Keep editing' }).click()
    await page.waitForURL(new RegExp(`bank=${BANK}$`))
    t.equal(await content.inputValue(), CONTENT, go)
  }
  await page.keyboard.press('Escape')
  await question.getByRole('button', { name: 'Discard' }).click()
  await retain.waitFor({ state: 'hidden' })
  t.match(page.url(), /bank=user-alice$/, 'the question of Back is forgotten')

  await open(page, 'Retain…', 'Retain a memory')
  await content.fill(CONTENT)
  await page.evaluate('history.go(-2)')
  await question.getByRole('button', { name: 'Discard' }).click()
  await page.waitForURL(/bank=user-bob$/)
  await retain.waitFor({ state: 'hidden' })
  await open(page, 'Retain…', 'Retain a memory')
  await content.fill(CONTENT)
  await page.evaluate('history.forward()')
  await question.getByRole('button', { name: 'Discard' }).click()
  await page.waitForURL(/bank=user-carol$/)
  await page.goBack()
  await page.waitForURL(/bank=user-bob$/)
  t.equal(await question.isVisible(), false, 'there is nothing to discard')
})

consoleTest('Back and links ask before they discard a memory that a sign-in hides', {
  expectedErrors: [/status of 401/],
}, async (t, { page, url }) => {
  await page.goto(url('memories?bank=user-bob'))
  await signInAs(page, 'user:alice')
  await chooseBank(page, BANK)
  await page.waitForURL(new RegExp(`bank=${BANK}$`))
  const retain = await open(page, 'Retain…', 'Retain a memory')
  await retain.getByLabel('Content').fill(CONTENT)
  const expire = async () => {
    await page.route('**/v1/retain', async (route) => { await route.fulfill({ status: 401 }) }, { times: 1 })
    await retain.getByRole('button', { name: 'Store' }).click()
    await page.getByText('The server no longer accepts your credentials.').waitFor()
  }
  const goBack = async () => { await page.evaluate('history.back()') }
  const question = page.getByRole('dialog', { name: 'Discard this memory?' })
  await expire()
  for (const leave of [goBack, async () => { await page.getByRole('link', { name: 'Memory Gateway' }).click() }]) {
    await leave()
    await question.waitFor()
    await hasNoViolation(t, page, 'the question above the sign-in')
    await question.getByRole('button', { name: 'Keep editing' }).click()
    await page.waitForURL(new RegExp(`bank=${BANK}$`))
  }
  await signInAs(page, 'user:alice')
  t.equal(await retain.getByLabel('Content').inputValue(), CONTENT)
  await expire()
  await goBack()
  await question.getByRole('button', { name: 'Discard' }).click()
  await page.waitForURL(/bank=user-bob$/)
  await signInAs(page, 'user:alice')
  t.equal(await page.getByRole('dialog').count(), 0, 'the memory is discarded')
})

consoleTest('the browser asks before it reloads or closes a tab with a memory that is not stored', {
  onBeforeUnload: 'stay',
}, async (t, { page, url }) => {
  await page.goto(url(`memories?bank=${BANK}`))
  await signInAs(page, 'user:alice')
  const content = (await open(page, 'Retain…', 'Retain a memory')).getByLabel('Content')
  await content.fill(CONTENT)
  for (const leave of [
    async () => { await page.evaluate('void setTimeout(() => { location.reload() })') },
    async () => { await page.close({ runBeforeUnload: true }) },
  ]) {
    const [dialog] = await Promise.all([page.waitForEvent('dialog'), leave()])
    t.equal(dialog.type(), 'beforeunload')
    t.equal(await content.inputValue(), CONTENT)
  }
  await content.fill('')
  await page.reload()
  await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
})

consoleTest('a running import or export ends only after a question', {}, async (t, { page, url, client }) => {
  const bank = { bank_id: BANK }
  await client().retain({ ...bank, content: CONTENT })
  const file = `${t.testdir({
    'bob.ndjson': '{"format": "memory-gateway-export", "version": 1}\n{"text": "Alice sings."}\n',
  })}/bob.ndjson`
  await page.goto(url(`memories?bank=${BANK}`))
  await signInAs(page, 'user:alice')
  const gate = new Gate()
  const importing = await open(page, 'Import…', 'Import')
  const send = importing.getByRole('button', { name: 'Import', exact: true })
  const start = async () => {
    await page.route('**/v1/banks/*/import*', gate.hold, { times: 1 })
    await send.click()
    await gate.has(1)
  }
  await importing.getByLabel('File').setInputFiles(file)
  await start()
  const question = page.getByRole('dialog', { name: 'Stop the import?' })
  await page.keyboard.press('Escape')
  await question.getByText('Nothing of the file is stored').waitFor()
  await hasNoViolation(t, page, 'the question')
  await question.getByRole('button', { name: 'Continue' }).click()
  await importing.getByRole('button', { name: 'Close', exact: true }).first().click()
  await question.waitFor()
  await gate.release()
  await importing.getByText('Imported: 1;').waitFor()
  await question.waitFor({ state: 'hidden' })
  t.equal((await client().getBank(bank)).memory_count, 2)

  await importing.getByLabel(/When the bank already has the id/).selectOption('overwrite')
  await start()
  await importing.getByRole('button', { name: 'Stop' }).click()
  await importing.getByText('The import is stopped.').waitFor()
  t.ok(await send.isEnabled(), 'the file is still chosen')
  await start()
  t.equal(await importing.getByText('The import is stopped.').count(), 0)
  await page.keyboard.press('Escape')
  await question.getByRole('button', { name: 'Stop' }).click()
  await importing.waitFor({ state: 'hidden' })
  await gate.release()
  t.equal((await client().getBank(bank)).memory_count, 2)

  await page.route('**/v1/banks/*/export*', gate.hold, { times: 1 })
  const exporting = await open(page, 'Export…', 'Export')
  await gate.has(1)
  await page.keyboard.press('Escape')
  const discard = page.getByRole('dialog', { name: 'Discard the export?' })
  await discard.getByRole('button', { name: 'Keep' }).click()
  await gate.release()
  await exporting.getByText(/^2 memories, .*: complete$/).waitFor()
  for (const close of [
    async () => { await page.keyboard.press('Escape') },
    async () => { await exporting.getByRole('button', { name: 'Close', exact: true }).last().click() },
  ]) {
    await close()
    await discard.getByText('not saved in a file yet').waitFor()
    await discard.getByRole('button', { name: 'Keep' }).click()
  }
  await Promise.all([page.waitForEvent('download'), exporting.getByRole('link', { name: /^Save / }).click()])
  await page.keyboard.press('Escape')
  await exporting.waitFor({ state: 'hidden' })
  t.equal(await discard.isVisible(), false, 'a saved file is not lost')
})
