import type { Locator, Page } from 'playwright-core'
import type { MemoryGatewayClient } from '../../../packages/client/src/index.js'
import { consoleTest, hasCount, hasNoViolation, settled, signInAs } from '../browser.js'
import { chooseBank, walkTest } from '../walk.js'

const YAML = `
access_control: {enabled: true, default_policy: deny}
access_grants:
  - {bank_id: team, principal: 'user:alice', permissions: ['*']}
  - {bank_id: team, principal: 'user:carol', permissions: [read]}
`

const NAMES = ['Ada', 'Ben', 'Clara', 'Dora', 'Emil', 'Frida', 'Greta', 'Hugo', 'Ida', 'Jonas', 'Karl']

async function turnOn (client: MemoryGatewayClient): Promise<void> {
  await client.putBankConfig({ bank_id: 'team', config: { signal_quality: { proposals: { mode: 'propose' } } } })
}

/** Retains a memory and one that may supersede it. @returns the id of the first */
async function contradict (client: MemoryGatewayClient, older: string, newer: string, speaker: string) {
  const { memory_id: id } = await client.retain({ bank_id: 'team', content: older, speaker })
  await client.retain({ bank_id: 'team', content: newer, speaker })
  return id
}

function rowsOf (page: Page): Locator {
  return page.getByRole('list', { name: 'Open proposals' }).locator(':scope > li')
}

async function isTooWide (page: Page): Promise<boolean> {
  return await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    return scrollWidth > clientWidth
  })
}

consoleTest('proposals are turned on, accepted, dismissed, undone, and told when somebody else was faster', {
  yaml: YAML, expectedErrors: [/status of 409/], viewport: { width: 360, height: 800 },
}, async (t, { page, url, client }) => {
  const alice = client({ principal: 'user:alice' })
  await page.goto(url('proposals?bank=team'))
  await signInAs(page, 'user:alice')
  await page.getByText('Proposals are off for this bank.').waitFor()
  await hasNoViolation(t, page, 'proposals are off')
  await page.getByRole('button', { name: 'Turn proposals on' }).click()
  await page.getByText('There is nothing to decide.').waitFor()
  await page.getByRole('button', { name: 'Turn proposals off' }).and(page.locator(':focus')).waitFor()
  const { config } = await alice.getBankConfig({ bank_id: 'team' })
  t.match(config, { signal_quality: { proposals: { mode: 'propose' } } })
  await hasNoViolation(t, page, 'nothing to decide')

  await contradict(alice, 'The meeting is at 3 pm.', 'The meeting was moved to 4 pm.', 'Ben')
  const older = await contradict(alice, 'I work at Acme.', 'I work at Globex now.', 'Alice')
  const reload = page.getByRole('button', { name: 'Reload', exact: true })
  await reload.click()
  await hasCount(t, rowsOf(page), 2)
  const first = rowsOf(page).first()
  await first.getByRole('heading', { name: 'Another answer to the same' }).waitFor()
  const [before, after] = [first.getByRole('group', { name: 'Older memory' }),
    first.getByRole('group', { name: 'Newer memory' })]
  t.match(await before.textContent(), /Alice.*I work at Acme\./)
  t.equal(await before.locator('del').textContent(), 'Acme')
  t.match(await after.textContent(), /Alice.*I work at Globex now\./)
  t.equal((await after.locator('ins').allTextContents()).join('').replace(/\s/g, ''), 'Globexnow')
  await hasNoViolation(t, page, 'two proposals')
  t.notOk(await isTooWide(page), 'two proposals')
  await page.setViewportSize({ width: 1280, height: 800 })
  const [left, right] = [(await before.boundingBox())!, (await after.boundingBox())!]
  t.ok(left.y === right.y && left.x + left.width <= right.x, 'they stand side by side')
  await page.setViewportSize({ width: 360, height: 800 })

  const undo = first.getByRole('button', { name: 'Undo' })
  await first.getByRole('button', { name: 'Accept' }).click()
  await undo.and(page.locator(':focus')).waitFor()
  await before.getByText('superseded', { exact: true }).waitFor()
  t.match(await first.textContent(), /accepted.*by user:alice/)
  t.equal((await alice.getMemory({ bank_id: 'team', memory_id: older })).state, 'superseded')
  await hasNoViolation(t, page, 'an accepted proposal')
  t.notOk(await isTooWide(page), 'an accepted proposal')
  await undo.click()
  await first.getByRole('button', { name: 'Accept' }).and(page.locator(':focus')).waitFor()
  t.equal((await alice.getMemory({ bank_id: 'team', memory_id: older })).state, 'current')
  await first.getByRole('button', { name: 'Dismiss' }).click()
  await undo.and(page.locator(':focus')).waitFor()
  t.equal((await alice.getMemory({ bank_id: 'team', memory_id: older })).state, 'current')

  const { proposals: [other] } = (await alice.listProposals({ bank_id: 'team' }).pages().next()).value!
  await alice.acceptProposal({ bank_id: 'team', proposal_id: other!.id })
  const second = rowsOf(page).last()
  await second.getByRole('button', { name: 'Dismiss' }).click()
  await second.getByRole('alert').getByText('Somebody else has decided this').waitFor()
  await hasNoViolation(t, page, 'somebody else was faster')
  await second.getByRole('button', { name: 'Load what stands now' }).click()
  await page.getByText('There is nothing to decide.').waitFor()
  await page.locator('h2:focus', { hasText: 'Open proposals' }).waitFor()

  for (const [state, text] of [['dismissed', 'Acme'], ['accepted', '3 pm']] as const) {
    await page.getByLabel('State').selectOption(state)
    await page.waitForURL(new RegExp(`state=${state}`))
    await page.getByRole('heading', { name: new RegExp(`^${state} proposals`, 'i') }).waitFor()
    await page.getByRole('group', { name: 'Older memory' }).getByText(text).waitFor()
    await hasCount(t, page.getByRole('button', { name: 'Undo' }), 1)
  }
})

consoleTest('further proposals are loaded, and hostile texts are shown as text', {
  yaml: YAML,
}, async (t, { page, url, client }) => {
  const alice = client({ principal: 'user:alice' })
  await turnOn(alice)
  for (const name of NAMES) await contradict(alice, `${name} works at Acme.`, `${name} works at Globex now.`, name)
  const markup = '<img src=x onerror=alert(1)> \u202eabc'
  const speaker = '<svg onload=alert(1)>'
  await contradict(alice, `I love hiking on weekends ${markup}`, `I love to hike on the weekends! ${markup}`, speaker)
  await page.goto(url('proposals?bank=team'))
  await signInAs(page, 'user:alice')
  await hasCount(t, rowsOf(page), 10)
  const first = rowsOf(page).first()
  await first.getByRole('heading', { name: 'Nearly the same words' }).waitFor()
  const text = await first.textContent()
  for (const part of [speaker, '<img src=x onerror=alert(1)>', 'U+202E right-to-left override']) t.match(text, part)
  t.equal(await page.locator('main img, main svg').count(), 0)
  await hasNoViolation(t, page, 'a hostile proposal')
  await page.getByRole('button', { name: 'Load more' }).click()
  await hasCount(t, rowsOf(page), 12)
})

consoleTest('a caller who may only read sees the proposals and no decision', {
  yaml: YAML,
}, async (t, { page, url, client }) => {
  const alice = client({ principal: 'user:alice' })
  await turnOn(alice)
  await contradict(alice, 'I work at Acme.', 'I work at Globex now.', 'Alice')
  await page.goto(url('proposals?bank=team'))
  await signInAs(page, 'user:carol')
  await hasCount(t, rowsOf(page), 1)
  await page.getByText('You need write on this bank to decide.').waitFor()
  t.equal(await page.getByRole('button', { name: /^(?:Accept|Dismiss|Undo|Turn proposals)/ }).count(), 0)
  await hasNoViolation(t, page, 'for a reader')
  await page.getByLabel('State').selectOption('accepted')
  await page.getByText('No proposal is accepted.').waitFor()
  const { proposals: [only] } = (await alice.listProposals({ bank_id: 'team' }).pages().next()).value!
  await alice.dismissProposal({ bank_id: 'team', proposal_id: only!.id })
  await page.getByLabel('State').selectOption('open')
  await page.getByText('which those who have admin on the bank can turn on').waitFor()
})

walkTest('Proposals', async (t, walk) => {
  const { page, keys, client } = walk
  await chooseBank(walk)
  await keys.use(page.getByRole('button', { name: 'Turn proposals on' }))
  const off = page.getByRole('button', { name: 'Turn proposals off' })
  await keys.isAt(off, 'it stays on the button')
  await contradict(client, 'I work at Acme.', 'I work at Globex now.', 'Alice')
  await keys.to(page.getByRole('button', { name: 'Reload', exact: true }), 'Shift+Tab')
  await keys.press('Enter')
  await keys.use(page.getByRole('button', { name: 'Dismiss' }))
  await keys.isAt(page.getByRole('button', { name: 'Undo' }), 'the way back')
  await keys.press('Enter')
  await keys.isAt(page.getByRole('button', { name: 'Accept' }), 'the decision')
  await keys.to(page.getByRole('link', { name: 'Open the older memory' }), 'Shift+Tab')
  await keys.press('Enter')
  await page.locator('.memories-content').getByText('I work at Acme.').waitFor()
  await page.goBack()
  await settled(page)
  await hasCount(t, rowsOf(page), 1)
})
