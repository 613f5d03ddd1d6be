import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import type { MemoryGatewayClient } from '../../../packages/client/src/index.js'
import { testApp, type TestApp } from '../../helpers/app.js'
import type { TestConfig } from '../../helpers/config.js'
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

let gateway: TestApp

/** A gateway whose clock the test moves. */
const served = (config: TestConfig) => ({
  start: async (t: Test) => {
    gateway = await testApp(t, config)
    return { url: await gateway.app.listen({ host: '127.0.0.1', port: 0 }) }
  },
})

async function retainNotes (client: MemoryGatewayClient, count: number, length: number) {
  for (let index = 0; index < count; index++) {
    const content = `Note ${index}. `.padEnd(length, `${index} `)
    await client.retain({ bank_id: 'notes', content, tags: ['note'] })
  }
  return await memoriesOf(client)
}

async function memoriesOf (client: MemoryGatewayClient) {
  return (await client.listMemories({ bank_id: 'notes', limit: 1000 }).pages().next()).value!.memories
}

/** Forgets the notes and returns the notice. */
async function forgetNotes (page: Page, address: string, count: number) {
  await page.goto(address)
  await signInAs(page, 'user:alice')
  await forgetByTag(page, 'note')
  await page.getByRole('button', { name: `Forget ${count} memories` }).click()
  const notice = page.locator('.memories-undo')
  await notice.getByText(`${count} memories are forgotten.`).waitFor()
  return notice
}

async function forgetByTag (page: Page, tag: string): Promise<void> {
  await page.getByRole('button', { name: 'Forget…' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'What is to be forgotten?' })
  await dialog.getByLabel('Tags', { exact: true }).fill(tag)
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

consoleTest('an undo restores in pieces what a limit does not admit at once, and a repeat continues', {
  ...served({ file: { homeostasis: { rate_limits: { import_per_minute: 50 } } } }),
  expectedErrors: [/status of 400/, /status of 429/],
}, async (t, { page, url, client }) => {
  const before = await retainNotes(client(), 60, 20)
  const notice = await forgetNotes(page, url('memories?bank=notes'), 60)
  await notice.getByRole('button', { name: 'Undo' }).click()
  await notice.getByText('The limit import_per_minute (50) is used up').waitFor()
  await notice.getByText('30 memories are not stored again yet. Undo continues with them.').waitFor()
  await page.getByRole('listbox').getByText(/^Note \d/).first().waitFor()
  t.equal((await client().getBank({ bank_id: 'notes' })).memory_count, 30)
  await hasNoViolation(t, page, 'an undo in part')
  gateway.clock.advance(60_000)
  await notice.getByRole('button', { name: 'Undo' }).click()
  await notice.waitFor({ state: 'detached' })
  t.same(await memoriesOf(client()), before)
})

for (const permissions of [['read', 'write', 'forget', 'admin'], ['read', 'write', 'forget']] as const) {
  const isComplete = permissions.length === 4
  consoleTest(`with ${permissions.join(', ')} a memory that is refused does not prevent the undo of the others`, {
    ...served({
      maxBodyBytes: 16_384,
      file: {
        access_control: { enabled: true, default_policy: 'deny' },
        access_grants: [
          { bank_id: 'notes', principal: 'user:alice', permissions: [...permissions] },
          { bank_id: 'notes', principal: 'user:root', permissions: ['*'] },
        ],
      },
    }),
    expectedErrors: [/status of 400/, /status of 413/],
  }, async (t, { page, url, client }) => {
    const root = client({ principal: 'user:root' })
    await root.retain({ bank_id: 'notes', content: 'The long note. '.padEnd(3000, 'long '), tags: ['note'] })
    const before = await retainNotes(root, 20, 1500)
    const notice = await forgetNotes(page, url('memories?bank=notes'), 21)
    await root.patchBankConfig({ bank_id: 'notes', patch: { barriers: { validation: { max_content_length: 2000 } } } })
    await notice.getByRole('button', { name: 'Undo' }).click()
    await notice.getByText('1 memory is not stored again yet. Undo continues with it.').waitFor()
    await notice.getByText('2000').first().waitFor()
    t.equal((await root.getBank({ bank_id: 'notes' })).memory_count, 20)
    await root.patchBankConfig({ bank_id: 'notes', patch: { barriers: null } })
    await notice.getByRole('button', { name: 'Undo' }).click()
    await notice.waitFor({ state: 'detached' })
    const after = await memoriesOf(root)
    t.same(after.map(({ text }) => text).sort(), before.map(({ text }) => text).sort())
    if (isComplete) t.same(after, before)
  })
}
