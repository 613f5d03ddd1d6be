import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import type { MemoryGatewayClient } from '../../../packages/client/src/index.js'
import { consoleTest, settled } from '../browser.js'
import { ADMIN, yamlFor } from '../every-page.js'
import { Keys } from '../keys.js'

const SETTINGS = { env: { SERVICE_ADMIN_TOKEN: ADMIN }, yaml: yamlFor('user:alice') }

interface Walk { page: Page, keys: Keys, client: MemoryGatewayClient }

/** A page that is reached, used and left with keys alone. The mouse of the browser is never moved. */
function walkTest (title: string, run: (t: Test, walk: Walk) => Promise<void>): void {
  consoleTest(`${title}, with the keyboard alone`, SETTINGS, async (t, { page, url, client }) => {
    const keys = new Keys(t, page)
    const alice = client({ principal: 'user:alice' })
    for (const content of ['The team meets on Mondays.', 'The team drinks tea.']) {
      await alice.retain({ bank_id: 'team', content, tags: ['fact'], document_id: 'day-1' })
    }
    await page.goto(url())
    await keys.use(page.getByRole('link', { name: 'Skip to the content' }))
    await keys.isAt(page.locator('main'), 'the content')
    await keys.fill(page.getByLabel('Principal'), 'user:alice')
    await keys.press('Enter')
    await page.locator('.identity', { hasText: 'user:alice' }).waitFor()
    await keys.use(page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: title }))
    // The first page is open already.
    if (title !== 'Overview') await keys.isAt(page.getByRole('heading', { level: 1, name: title }), `the title of ${title}`)
    await settled(page)
    await run(t, { page, keys, client: alice })
    await keys.around(title)
    t.same([...keys.faults], [], 'every stop is seen')
  })
}

async function giveAdminToken ({ page, keys }: Walk): Promise<void> {
  await keys.fill(page.getByLabel('Admin token'), ADMIN)
  await keys.press('Enter')
  await page.getByLabel('Admin token').waitFor({ state: 'detached' })
}

async function chooseBank ({ page, keys }: Walk): Promise<void> {
  await keys.fill(page.getByLabel(/^Bank( \(|$)/), 'team')
  await keys.press('Enter')
  await page.waitForURL(/bank=team/)
}

walkTest('Overview', async (_t, walk) => {
  const { page, keys } = walk
  await giveAdminToken(walk)
  await keys.use(page.locator('summary', { hasText: 'Requests per second as a table' }))
  await page.getByRole('table', { name: 'Requests per second' }).waitFor()
  await keys.to(page.getByLabel('Theme'), 'Shift+Tab')
  await keys.press('ArrowDown', 'ArrowDown')
  await page.locator('html[data-theme=dark]').waitFor()
  await keys.use(page.getByRole('button', { name: 'Sign out' }))
  await keys.isAt(page.getByRole('heading', { level: 1, name: 'Sign in' }), 'the sign-in')
})

walkTest('Banks', async (_t, { page, keys }) => {
  await keys.fill(page.getByLabel('Id contains'), 'tea')
  await keys.use(page.getByRole('button', { name: 'Load anew' }))
  await keys.isAt(page.getByRole('button', { name: 'Load anew' }), 'it stays on the button')
  await keys.use(page.getByRole('link', { name: 'team', exact: true }))
  await page.getByRole('heading', { name: 'Growth by day' }).waitFor()
  await keys.to(page.getByLabel('Days'))
  await keys.press('ArrowDown')
  await page.waitForURL(/days=90/)
  await keys.isAt(page.getByLabel('Days'), 'it stays on the choice')
  await keys.use(page.locator('summary', { hasText: 'Memories retained as a table' }))
  await page.getByRole('table', { name: 'Memories retained' }).waitFor()
  await keys.use(page.getByRole('link', { name: 'fact' }))
  await keys.isAt(page.getByRole('heading', { level: 1, name: 'Memories' }), 'the page that a link leads to')
  await page.goBack()
})

walkTest('Memories', async (t, walk) => {
  const { page, keys, client } = walk
  await chooseBank(walk)
  const list = page.getByRole('listbox', { name: 'Memories' })
  await list.getByText('The team drinks tea.').waitFor()

  const opener = page.getByRole('button', { name: 'Retain…' })
  await keys.use(opener)
  const retain = page.getByRole('dialog', { name: 'Retain a memory' })
  await keys.fill(retain.getByLabel('Content'), 'The team swims.')
  await keys.fill(retain.getByLabel('Tags', { exact: true }), 'sport')
  await keys.press('Enter')
  await keys.use(retain.getByRole('button', { name: 'Store' }))
  await retain.getByText('Stored in one passage').waitFor()
  await keys.press('Escape')
  await keys.isAt(opener, 'back from the dialog')
  await list.getByText('The team swims.').waitFor()

  await keys.use(page.locator('summary', { hasText: 'Filters' }))
  await keys.fill(page.getByLabel('Tags', { exact: true }), 'sport')
  await keys.press('Enter')
  await page.getByText('Filters (1 set)').waitFor()
  await keys.use(page.getByRole('button', { name: 'Remove sport' }))
  await page.waitForURL((url) => !url.searchParams.has('tag'))
  await keys.isAt(page.getByLabel('Tags', { exact: true }), 'a tag that is removed leaves it in the field')

  await keys.to(list)
  await keys.press('End', 'Home', 'ArrowDown', 'Enter')
  await keys.isAt(page.getByRole('heading', { name: 'One memory' }), 'the memory')
  await page.locator('.memories-content').getByText('The team drinks tea.').waitFor()
  await keys.press('Escape')
  await keys.isAt(list, 'back from the memory')
  await keys.press('Home', 'Enter')
  await keys.isAt(page.getByRole('heading', { name: 'One memory' }), 'the memory')
  await keys.use(page.locator('.memories-view').getByRole('button', { name: 'Forget…' }))
  const forget = page.getByRole('dialog', { name: 'Forget', exact: true })
  await forget.getByText('1 memory would be forgotten').waitFor()
  await keys.press('Escape')
  await keys.isAt(page.locator('.memories-view').getByRole('button', { name: 'Forget…' }), 'back from the dialog')
  await keys.press('Enter')
  await keys.use(forget.getByRole('button', { name: 'Forget 1 memory' }))
  const notice = page.getByRole('region', { name: 'Forgotten' })
  await keys.isAt(notice, 'what was forgotten, and the way back')
  await keys.use(notice.getByRole('button', { name: 'Undo' }))
  await list.getByText('The team swims.').waitFor()
  await keys.isAt(page.getByRole('heading', { name: 'All' }), 'the list, after the notice')

  await keys.to(page.getByRole('button', { name: 'Forget…' }), 'Shift+Tab')
  await keys.press('Enter')
  const choice = page.getByRole('dialog', { name: 'What is to be forgotten?' })
  await keys.to(choice.getByLabel('Memories with tags'))
  await keys.press('ArrowDown', 'ArrowDown')
  t.ok(await choice.getByLabel('The whole bank').isChecked())
  await keys.use(choice.getByRole('button', { name: 'Show what would go' }))
  const whole = page.getByRole('dialog', { name: 'Forget the whole bank' })
  await whole.getByText('3 memories would be forgotten').waitFor()
  await keys.fill(whole.getByLabel('Type team to go on'), 'team')
  await keys.use(whole.getByRole('button', { name: 'Cancel' }))
  await keys.isAt(page.getByRole('button', { name: 'Forget…' }), 'back from the second dialog')

  await keys.use(page.getByRole('button', { name: 'Export…' }))
  const saved = page.waitForEvent('download')
  await keys.use(page.getByRole('link', { name: 'Save team.ndjson' }))
  const file = join(t.testdir(), 'team.ndjson')
  await (await saved).saveAs(file)
  t.equal(readFileSync(file, 'utf8').trimEnd().split('\n').length, 4)
  await keys.press('Escape')
  await keys.isAt(page.getByRole('button', { name: 'Export…' }), 'back from the dialog')
  writeFileSync(file, '{"format": "memory-gateway-export", "version": 1}\n{"text": "The team sings."}\n')
  await keys.use(page.getByRole('button', { name: 'Import…' }))
  const dialog = page.getByRole('dialog', { name: 'Import' })
  const chooser = page.waitForEvent('filechooser')
  await keys.use(dialog.getByLabel('File'))
  await (await chooser).setFiles(file)
  await keys.use(dialog.getByRole('button', { name: 'Import', exact: true }))
  await dialog.getByText('Imported: 1;').waitFor()
  await keys.press('Escape')
  await keys.isAt(page.getByRole('button', { name: 'Import…' }), 'back from the dialog')
  t.equal((await client.getBank({ bank_id: 'team' })).memory_count, 4)

  await keys.to(page.getByLabel('Full text'), 'Shift+Tab')
  await keys.type('tea')
  await keys.press('Enter')
  await keys.to(page.getByRole('listbox', { name: 'Memories found' }))
  await keys.press('Enter')
  await keys.isAt(page.getByRole('heading', { name: 'One memory' }), 'what was found')
})

walkTest('Recall lab', async (_t, walk) => {
  const { page, keys } = walk
  await chooseBank(walk)
  await keys.fill(page.getByLabel('Query'), 'Who drinks tea?')
  await keys.press('Enter')
  await page.locator('.recall-hit').first().waitFor()
  await keys.use(page.getByLabel('Compare with a second setting'), 'Space')
  const second = page.getByRole('group', { name: 'Setting B' })
  await keys.to(second.getByLabel('Strategies'), 'Shift+Tab')
  await keys.press('ArrowDown')
  await keys.use(page.getByRole('button', { name: 'Recall', exact: true }))
  await page.getByRole('list', { name: 'Hits of Setting B' }).waitFor()
  await keys.use(page.locator('summary', { hasText: 'Stages and strategies as tables' }).first())
  await page.getByRole('table', { name: 'Stages of Setting A' }).waitFor()
  await keys.use(page.locator('summary', { hasText: 'Scores of hit 1 as a table' }).first())
  await page.getByRole('table', { name: 'Scores of hit 1' }).first().waitFor()
  await keys.use(page.getByRole('button', { name: 'Explain hit 1' }).first())
  await page.getByText('It is among the hits.').waitFor()
  await keys.isAt(page.getByRole('heading', { name: 'Why not this one?' }), 'the explanation')
  const opener = page.getByRole('button', { name: 'Pick from the list…' })
  await keys.use(opener)
  await keys.to(page.getByRole('listbox', { name: 'Memories to pick from' }))
  await keys.press('Escape')
  await keys.isAt(opener, 'back from the dialog')
  await keys.press('Enter')
  await keys.to(page.getByRole('listbox', { name: 'Memories to pick from' }))
  await keys.press('ArrowDown', 'Enter')
  await page.locator('.recall-explained', { hasText: 'The team meets on Mondays.' }).waitFor()
  await keys.isAt(opener, 'back from the dialog')
})

walkTest('Reflect', async (_t, walk) => {
  const { page, keys } = walk
  await chooseBank(walk)
  await keys.fill(page.getByLabel('Question', { exact: true }), 'What does the team drink?')
  await keys.use(page.locator('summary', { hasText: 'Evidence and answer' }))
  await keys.fill(page.getByLabel('Tags', { exact: true }), 'fact')
  await keys.use(page.getByLabel('Also answer as an object'), 'Space')
  await keys.use(page.getByRole('button', { name: 'Insert the example' }))
  await keys.to(page.getByLabel('Also answer as an object'), 'Shift+Tab')
  await keys.press('Space')
  await keys.use(page.getByRole('button', { name: 'Ask', exact: true }))
  const answer = page.getByRole('region', { name: 'Answer', exact: true })
  await answer.getByText('The team drinks tea.').waitFor()
  await answer.getByText(/Tokens/).waitFor()
  const mark = answer.getByRole('button', { name: 'Source [1]' }).first()
  await keys.use(mark)
  const source = page.getByRole('region', { name: 'Sources', exact: true }).getByRole('button', { name: 'Source [1]' })
  await keys.isAt(source, 'the source of a mark')
  await page.locator('.reflect-source.lit').waitFor()
  await keys.press('Enter')
  await keys.isAt(mark, 'the mark of a source')
})

walkTest('Access', async (_t, walk) => {
  const { page, keys } = walk
  await chooseBank(walk)
  await page.getByText('granted', { exact: true }).first().waitFor()
  await keys.use(page.getByRole('link', { name: 'Anyone' }))
  await giveAdminToken(walk)
  await keys.fill(page.getByRole('textbox', { name: 'Principals' }), 'user:alice, user:bob')
  await keys.press('Enter')
  await page.getByRole('table', { name: 'What the principals may do' }).getByText('user:bob').first().waitFor()
  const box = page.getByRole('region', { name: 'What if', exact: true })
  await keys.fill(box.getByLabel('Principal'), 'user:bob')
  await keys.fill(box.getByLabel('Bank'), 'team')
  await keys.to(box.getByLabel('Permission'))
  await keys.press('ArrowDown')
  await keys.use(box.getByRole('button', { name: 'Decide' }))
  await box.getByText("Principal 'user:bob' is denied 'write' on bank 'team'").waitFor()
  await keys.to(page.getByRole('link', { name: 'Rules' }), 'Shift+Tab')
  await keys.press('Enter')
  await page.getByText('Default policy').waitFor()
})

walkTest('Sources', async (_t, walk) => {
  const { page, keys } = walk
  await giveAdminToken(walk)
  await keys.use(page.getByRole('button', { name: 'Load anew' }))
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await keys.use(page.getByRole('button', { name: 'Copy' }))
  await page.getByRole('button', { name: 'Copied' }).waitFor()
})

walkTest('Admin', async (t, walk) => {
  const { page, keys, client } = walk
  await client.putBankConfig({ bank_id: 'team', config: { description: 'The bank of the team' } })
  await giveAdminToken(walk)
  await keys.use(page.getByRole('button', { name: 'Apply the file as it is now' }))
  await page.getByText('Nothing has changed since').waitFor()
  await keys.fill(page.getByLabel('Id contains'), 'tea')
  await keys.use(page.getByRole('link', { name: 'Configuration of team' }))
  const own = page.getByRole('region', { name: 'Set by the admins of the bank' })
  await own.getByText('user:alice').waitFor()
  const opener = own.getByRole('button', { name: 'Take back' })
  await keys.use(opener)
  await keys.press('Escape')
  await keys.isAt(opener, 'back from the dialog')
  await keys.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Take the configuration back' })
  await keys.fill(dialog.getByLabel('Type team to go on'), 'team')
  await keys.press('Enter')
  await own.getByText('Nothing.').waitFor()
  t.same((await client.getBankConfig({ bank_id: 'team' })).config, {})
  await keys.isAt(page.getByRole('heading', { name: 'Configuration of team' }), 'the heading, as the button is gone')
})
