import { consoleTest, hasCount, hasNoViolation, settled, signInAs } from '../browser.js'
import { chooseBank, walkTest } from '../walk.js'

const YAML = `
access_control: {enabled: true, default_policy: deny}
access_grants:
  - {bank_id: team, principal: 'user:alice', permissions: ['*']}
  - {bank_id: team, principal: 'user:carol', permissions: [read]}
`
const WIDTHS = [360, 768, 1920, 3840]
const HOSTILE = '<script>alert(1)</script><img src=x onerror=alert(1)> javascript:alert(1) \u202eabc'
/** An id may have anything in it. */
const ID = `chat/7?a=b&<b>x</b>\u202e${'y'.repeat(400)}`

consoleTest('a conversation is found, read in order with its earlier messages, and deleted', {
  yaml: YAML, viewport: { width: 360, height: 800 },
}, async (t, { page, url, client }) => {
  const alice = client({ principal: 'user:alice' })
  await page.goto(url('conversations?bank=team'))
  await signInAs(page, 'user:alice')
  await page.getByText('The bank has no conversations.').waitFor()
  await hasNoViolation(t, page, 'no conversation')

  const messages = Array.from({ length: 119 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant', content: `Message ${index}.`, ...(index === 118 && { name: 'Ada' }),
  }))
  await alice.conversation('team', ID).append([...messages, { role: 'assistant', content: HOSTILE }])
  await alice.conversation('team', 'other').append([{ role: 'user', content: 'I moved to Lyon.' }])
  await page.getByRole('button', { name: 'Reload', exact: true }).click()
  const conversations = page.getByRole('list', { name: 'Conversations' }).locator(':scope > li')
  await hasCount(t, conversations, 2)
  await page.getByText('2, by id').waitFor()
  t.match(await conversations.first().textContent(), /^chat\/7.*120 messages/)
  t.match(await conversations.last().textContent(), /^other.*1 message[^s]/)
  await hasNoViolation(t, page, 'two conversations')

  await conversations.first().getByRole('link').click()
  await page.locator('h2:focus', { hasText: 'chat/7?a=b&<b>x</b>' }).waitFor()
  await page.getByText('the last 50 messages').waitFor()
  const shown = page.getByRole('list', { name: 'Messages' }).locator(':scope > li')
  await hasCount(t, shown, 50)
  const texts = async () => (await shown.allTextContents()).map((text) => /Message (\d+)\./.exec(text)?.[1] ?? '')
  const numbers = (from: number) => Array.from({ length: 119 - from }, (_, index) => String(from + index))
  t.same(await texts(), [...numbers(70), ''], 'the last ones, in order')
  t.match(await shown.nth(48).textContent(), /^Adauser.*Message 118/, 'the name, and the role')
  t.match(await shown.last().textContent(), /assistant.*<script>alert\(1\)<\/script>.*U\+202E right-to-left override/)
  t.equal(await page.locator('main script, main img, main a[href^="javascript"], main b').count(), 0)
  await hasNoViolation(t, page, 'a conversation')
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 })
    const beyond = await page.evaluate(() => (
      document.documentElement.scrollWidth - document.documentElement.clientWidth
    ))
    t.ok(beyond <= 0, `${width} pixels: ${beyond} too wide`)
  }
  await page.setViewportSize({ width: 360, height: 800 })
  for (const count of [100, 120]) {
    await page.getByRole('button', { name: 'Show earlier messages' }).click()
    await hasCount(t, shown, count)
  }
  await page.getByText('120 messages', { exact: true }).waitFor()
  t.equal(await page.getByRole('button', { name: 'Show earlier messages' }).count(), 0)
  t.same(await texts(), [...numbers(0), ''])

  await shown.nth(1).getByRole('link', { name: /^Open memory/ }).click()
  await page.locator('.memories-content').getByText('Message 1.', { exact: true }).waitFor()
  await page.goBack()

  await page.getByRole('button', { name: 'Delete…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete the conversation' })
  await hasNoViolation(t, page, 'the question')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  t.equal((await alice.listMessages({ bank_id: 'team', conversation_id: ID })).messages.length, 50, 'not yet')
  await page.getByRole('button', { name: 'Delete…' }).click()
  await dialog.getByRole('button', { name: 'Delete it' }).click()
  await page.locator('h2:focus', { hasText: 'All conversations' }).waitFor()
  await hasCount(t, conversations, 1)
  t.same((await alice.listMessages({ bank_id: 'team', conversation_id: ID })).messages, [])
  await conversations.getByText('other').waitFor()
  await page.goBack()
  await page.getByText('This conversation has no messages.').waitFor()
})

consoleTest('a caller who may only read can read a conversation, and not delete it', {
  yaml: YAML,
}, async (t, { page, url, client }) => {
  await client({ principal: 'user:alice' }).conversation('team', 'chat').append([{ role: 'user', content: 'Hello.' }])
  await page.goto(url('conversations?bank=team&conversation=chat'))
  await signInAs(page, 'user:carol')
  await page.getByText('Hello.').waitFor()
  await page.getByText('You need forget on this bank to delete the conversation.').waitFor()
  const button = page.getByRole('button', { name: 'Delete…' })
  t.equal(await button.getAttribute('aria-disabled'), 'true')
  await button.click({ force: true })
  t.equal(await page.getByRole('dialog').count(), 0)
  await hasNoViolation(t, page, 'for a reader')
})

walkTest('Conversations', async (t, walk) => {
  const { page, keys, client } = walk
  await chooseBank(walk)
  const messages = Array.from({ length: 60 }, (_, index) => ({ role: 'user', content: `Message ${index}.` }))
  await client.conversation('team', 'chat-7').append(messages)
  await keys.use(page.getByRole('button', { name: 'Reload', exact: true }))
  await keys.use(page.getByRole('link', { name: 'chat-7' }))
  await keys.isAt(page.getByRole('heading', { level: 2, name: 'chat-7' }), 'the conversation')
  await keys.use(page.getByRole('button', { name: 'Show earlier messages' }))
  await page.getByText('Message 0.').waitFor()
  await settled(page)
  const opener = page.getByRole('button', { name: 'Delete…' })
  await keys.to(opener)
  await keys.press('Enter')
  await keys.isAt(page.getByRole('button', { name: 'Cancel' }), 'the button that changes nothing')
  await keys.press('Escape')
  await keys.isAt(opener, 'back from the dialog')
  await keys.press('Enter')
  await keys.use(page.getByRole('button', { name: 'Delete it' }))
  await keys.isAt(page.getByRole('heading', { name: 'All conversations' }), 'the list, as the conversation is gone')
  t.equal((await client.listMessages({ bank_id: 'team', conversation_id: 'chat-7' })).messages.length, 0)
})
