import { consoleTest, hasNoViolation, signInAs } from '../browser.js'
import { Keys } from '../keys.js'

const BANK = 'user-alice'

consoleTest('a dialog opens at its first field, and a question at the button that changes nothing', {
}, async (t, { page, url, client }) => {
  await client().retain({ bank_id: BANK, content: 'Alice drinks tea.' })
  await page.goto(url(`memories?bank=${BANK}`))
  await signInAs(page, 'user:alice')
  const keys = new Keys(t, page)
  const open = async (opener: string, title: string) => {
    await page.getByRole('button', { name: opener }).click()
    const dialog = page.getByRole('dialog', { name: title, exact: true })
    await dialog.waitFor()
    return dialog
  }
  const retain = await open('Retain…', 'Retain a memory')
  await keys.isAt(retain.getByLabel('Content'), 'the first field of a form')
  await keys.type('Alice sings.')
  await keys.press('Escape')
  const question = page.getByRole('dialog', { name: 'Discard this memory?' })
  await keys.isAt(question.getByRole('button', { name: 'Keep editing' }), 'the button that discards nothing')
  await keys.use(question.getByRole('button', { name: 'Discard' }))

  const importing = await open('Import…', 'Import')
  await keys.isAt(importing.getByLabel('File'), 'the file to import')
  await keys.press('Escape')
  const exporting = await open('Export…', 'Export')
  await keys.isAt(exporting.getByRole('heading', { name: 'Export' }), 'the heading where there is no field')
  await exporting.getByText(': complete').waitFor()
  await hasNoViolation(t, page, 'a dialog whose heading has the focus')
  await keys.press('Escape')
  await keys.use(page.getByRole('dialog', { name: 'Discard the export?' }).getByRole('button', { name: 'Discard' }))

  const choice = await open('Forget…', 'What is to be forgotten?')
  await keys.isAt(choice.getByLabel('By speaker, tag'), 'the first choice')
  await choice.getByLabel('The whole bank').check()
  await choice.getByRole('button', { name: 'Show a preview' }).click()
  const whole = page.getByRole('dialog', { name: 'Forget the whole bank' })
  await keys.isAt(whole.getByLabel(`Type ${BANK} to confirm`), 'the text to type')
  for (const dialog of [whole, choice]) {
    await keys.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
  }
  await page.getByRole('listbox').getByText('Alice drinks tea.').click()
  await page.locator('.memories-view').getByRole('button', { name: 'Forget…' }).click()
  const forget = page.getByRole('dialog', { name: 'Forget', exact: true })
  await forget.getByText('1 memory would be forgotten').waitFor()
  await keys.isAt(forget.getByRole('button', { name: 'Cancel' }), 'the button that forgets nothing')
})
