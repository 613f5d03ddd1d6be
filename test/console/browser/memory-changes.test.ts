import type { Page } from 'playwright-core'
import { consoleTest, hasCount, hasNoViolation, settled, signInAs } from '../browser.js'

const YAML = `
access_control: {enabled: true, default_policy: deny}
access_grants:
  - {bank_id: team, principal: 'user:alice', permissions: ['*']}
  - {bank_id: team, principal: 'user:carol', permissions: [read]}
`

/** Whether the page is wider than the screen. */
async function isTooWide (page: Page): Promise<boolean> {
  return await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    return scrollWidth > clientWidth
  })
}

consoleTest('a memory is edited, retired and restored, and its versions show what changed', {
  expectedErrors: [/status of 412/], viewport: { width: 360, height: 800 },
}, async (t, { page, url, client }) => {
  const alice = client({ principal: 'user:alice' })
  const { memory_id: id } = await alice.retain({
    bank_id: 'team', content: 'Ada works at Acme.', tags: ['work'], key: 'ada/employer',
  })
  await page.goto(url(`memories?bank=team&memory=${id}`))
  await signInAs(page, 'user:alice')
  const view = page.locator('.memories-view')
  await view.getByText('ada/employer').waitFor()
  const versions = view.getByRole('list', { name: 'Versions' }).locator(':scope > li')
  await hasCount(t, versions, 1)
  t.match(await versions.first().textContent(), /Version 1.*by user:alice/)

  await view.getByRole('button', { name: 'Edit…' }).click()
  const edit = page.getByRole('dialog', { name: 'Edit the memory' })
  t.ok(await edit.getByRole('button', { name: 'Save' }).isDisabled(), 'nothing is changed')
  await edit.getByLabel('Content').fill('Ada works at Globex.')
  await edit.getByLabel('Valid from').fill('2026-01-01T00:00')
  await edit.getByLabel('Reason').fill('She said so today.')
  await hasNoViolation(t, page, 'the form')
  await page.keyboard.press('Escape')
  const question = page.getByRole('dialog', { name: 'Discard the changes?' })
  await question.getByRole('button', { name: 'Keep editing' }).click()
  await alice.patchMemory({ bank_id: 'team', memory_id: id, patch: { tags: ['work', 'ada'] } })
  await edit.getByRole('button', { name: 'Save' }).click()
  await edit.getByText('Somebody else has changed this memory').waitFor()
  await hasNoViolation(t, page, 'a conflict')
  await edit.getByRole('button', { name: 'Load their version and keep my changes' }).click()
  await edit.getByRole('button', { name: 'Remove ada' }).waitFor()
  t.equal(await edit.getByLabel('Content').inputValue(), 'Ada works at Globex.')
  await edit.getByRole('button', { name: 'Save' }).click()
  await edit.waitFor({ state: 'hidden' })
  await hasCount(t, versions, 3)
  t.match(await alice.getMemory({ bank_id: 'team', memory_id: id }), {
    text: 'Ada works at Globex.', tags: ['ada', 'work'], valid_from: '2025-12-31T23:00:00.000Z', version: 3,
  })
  await view.getByText('She said so today.').waitFor()
  await view.getByText('What version 3 changed').click()
  t.equal(await view.locator('del').textContent(), 'Acme')
  t.equal(await view.locator('ins').textContent(), 'Globex')
  t.match(await versions.first().textContent(), /Valid fromnone →becomes 1 Jan 2026/)
  await view.getByText('What version 2 changed').click()
  await versions.nth(1).locator('dt').waitFor()
  t.match(await versions.nth(1).textContent(), /Tagswork →becomes ada, work/)
  await view.getByText('What version 1 said').click()
  await versions.nth(2).getByText('Ada works at Acme.').waitFor()
  await hasNoViolation(t, page, 'the versions')
  t.notOk(await isTooWide(page))

  await view.getByRole('button', { name: 'Retire…' }).click()
  const retire = page.getByRole('dialog', { name: 'Retire the memory' })
  await retire.waitFor()
  await page.keyboard.press('Escape')
  await retire.waitFor({ state: 'hidden' })
  await view.getByRole('button', { name: 'Retire…' }).click()
  await retire.getByLabel('Why').selectOption('invalidated')
  await retire.getByLabel('Note').fill('It was a joke.')
  await hasNoViolation(t, page, 'the form of retire')
  await retire.getByRole('button', { name: 'Retire' }).click()
  await view.getByText('invalidated: It was a joke.').waitFor()
  t.equal(await view.getByRole('button', { name: 'Edit…' }).count(), 0, 'what is past is restored first')
  await page.getByText('This bank is empty').waitFor()
  await page.getByLabel('State', { exact: true }).selectOption('history')
  await page.waitForURL(/state=history/)
  await page.getByRole('listbox').getByText('retired').waitFor()
  await hasNoViolation(t, page, 'what is past')
  await view.getByRole('button', { name: 'Restore…' }).click()
  await page.getByRole('dialog', { name: 'Restore the memory' }).getByRole('button', { name: 'Restore' }).click()
  await view.getByRole('button', { name: 'Retire…' }).waitFor()
  await page.getByText('No memory passes the filters.').waitFor()

  await view.getByRole('button', { name: 'Empty version 1…' }).click()
  const empty = page.getByRole('dialog', { name: 'Empty version 1' })
  await hasNoViolation(t, page, 'the question')
  await empty.getByRole('button', { name: 'Empty it' }).click()
  await view.getByText('Emptied: what it said is gone.').waitFor()
  await view.getByText('What version 2 said').waitFor()
  await hasCount(t, versions, 5)
  const { versions: kept } = await alice.listVersions({ bank_id: 'team', memory_id: id })
  t.same(kept.map(({ redacted }) => redacted), [false, false, false, false, true])
})

consoleTest('superseded memories are marked, linked, and found at an instant', {}, async (t, { page, url, client }) => {
  const bank = 'user-ada'
  const { memory_id: old } = await client().retain({
    bank_id: bank, content: 'Ada works at Acme.', key: 'ada/employer', valid_from: '2024-03-01T00:00:00Z',
  })
  const [{ retained_at: retained }] = [await client().getMemory({ bank_id: bank, memory_id: old })]
  const { memory_id: id } = await client().retain({
    bank_id: bank, content: 'Ada works at Globex.', key: 'ada/employer', valid_from: '2026-01-01T00:00:00Z',
  })
  await page.goto(url(`memories?bank=${bank}`))
  await signInAs(page, 'user:ada')
  const list = page.getByRole('listbox', { name: 'Memories' })
  await list.getByText('Ada works at Globex.').waitFor()
  await hasCount(t, list.getByRole('option'), 1)
  await page.getByLabel('State', { exact: true }).selectOption('all')
  await list.getByText('superseded').waitFor()
  await hasCount(t, list.getByRole('option'), 2)
  const row = list.getByRole('option').filter({ hasText: 'Acme' })
  t.match(await row.textContent(), /supersededso until 1 Jan 2026, 01:00:00/)
  await hasNoViolation(t, page, 'the list')
  await page.getByRole('button', { name: 'Forget…' }).click()
  const forget = page.getByRole('dialog', { name: 'What is to be forgotten?' })
  t.ok(await forget.getByLabel('What the filter shows').isDisabled(), 'a forget has no filter of states')
  await forget.getByText('Memories cannot be forgotten by trust, state, or an instant').waitFor()
  await page.keyboard.press('Escape')
  await row.click()
  const view = page.locator('.memories-view')
  await view.getByRole('link', { name: id }).click()
  await view.locator('.memories-content').getByText('Ada works at Globex.').waitFor()
  await view.getByRole('link', { name: old }).click()
  await view.locator('.memories-content').getByText('Ada works at Acme.').waitFor()
  await hasNoViolation(t, page, 'a superseded memory')

  await page.getByLabel('State', { exact: true }).selectOption('all')
  await page.getByLabel('Words').fill('Ada')
  await page.keyboard.press('Enter')
  await page.getByRole('listbox', { name: 'Memories found' }).getByText('superseded').waitFor()
  t.match(page.url(), /state=all/)

  await page.goto(url(`memories?bank=${bank}&as_of=${retained}`))
  await signInAs(page, 'user:ada')
  await list.getByText('Ada works at Acme.').waitFor()
  await hasCount(t, list.getByRole('option'), 1, 'the bank as it was stored then')
  await page.getByText('Filters (1 set)').click()
  await page.getByLabel('As of').fill('')
  await page.waitForURL((at) => !at.searchParams.has('as_of'))
  await list.getByText('Ada works at Globex.').waitFor()

  await page.goto(url(`recall?bank=${bank}`))
  await signInAs(page, 'user:ada')
  await page.getByLabel('Query').fill('Where does Ada work?')
  await page.getByText('Filters, times and models').click()
  await page.getByLabel('State', { exact: true }).selectOption('all')
  await page.getByRole('button', { name: 'Recall', exact: true }).click()
  const hits = page.getByRole('list', { name: 'Hits of Setting A' }).locator(':scope > li')
  await hasCount(t, hits, 2)
  await hasCount(t, hits.getByText('superseded', { exact: true }), 1)
  await hasNoViolation(t, page, 'the hits')
  await page.getByLabel('Valid at').fill('2025-06-01T00:00')
  await page.getByRole('button', { name: 'Recall', exact: true }).click()
  await page.getByText('1 hit of').waitFor()
  await hasCount(t, hits.getByText('Ada works at Acme.'), 1)

  await page.goto(url(`reflect?bank=${bank}`))
  await signInAs(page, 'user:ada')
  await page.getByLabel('Question', { exact: true }).fill('Where does Ada work?')
  await page.getByText('Which memories, and how to answer').click()
  await page.getByLabel('State', { exact: true }).selectOption('history')
  await page.getByLabel('Valid at').fill('2025-06-01T00:00')
  const asked = page.waitForRequest('**/v1/reflect')
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  t.match((await asked).postDataJSON(), { state: 'history', valid_at: '2025-06-01T00:00:00+02:00' })
  await page.getByRole('region', { name: 'Sources' }).getByText('superseded', { exact: true }).waitFor()
  await hasNoViolation(t, page, 'the sources')
})

consoleTest('a bank is set back to an instant after a count of what that changes', {
  yaml: YAML, expectedErrors: [/status of 400/], viewport: { width: 360, height: 800 },
}, async (t, { page, url, client }) => {
  const alice = client({ principal: 'user:alice' })
  const { memory_id: kept } = await alice.retain({ bank_id: 'team', content: 'The team meets on Mondays.' })
  // The field has whole seconds.
  await page.waitForTimeout(2000)
  const instant = new Date(Date.now() - 1000)
  await alice.patchMemory({ bank_id: 'team', memory_id: kept, patch: { content: 'The team meets never.' } })
  await alice.retain({ bank_id: 'team', content: 'The team is poisoned.' })
  await page.goto(url('banks?bank=team'))
  await signInAs(page, 'user:alice')
  const form = page.getByRole('form', { name: 'Set back to an instant' })
  const show = form.getByRole('button', { name: 'Show what would change…' })
  await form.getByLabel('Instant').fill('2999-01-01T00:00')
  await show.click()
  await form.getByRole('alert').waitFor()
  const local = new Date(instant.getTime() - Number(await page.evaluate('new Date().getTimezoneOffset()')) * 60_000)
  await form.getByLabel('Instant').fill(local.toISOString().slice(0, 19))
  await show.click()
  const dialog = page.getByRole('dialog', { name: 'Set the bank back' })
  await dialog.getByText('1 memory would be restored').waitFor()
  await dialog.getByText('1 memory would be retired').waitFor()
  await dialog.getByText('0 memories cannot be recovered').waitFor()
  await hasNoViolation(t, page, 'what would change')
  t.equal((await alice.getMemory({ bank_id: 'team', memory_id: kept })).text, 'The team meets never.', 'it only counts')
  await dialog.getByRole('button', { name: 'Set it back' }).click()
  await form.getByText('1 memory is restored').waitFor()
  t.equal((await alice.getMemory({ bank_id: 'team', memory_id: kept })).text, 'The team meets on Mondays.')
  await settled(page)
  await hasNoViolation(t, page, 'the outcome')
  t.notOk(await isTooWide(page))
})

consoleTest('a caller who may only read sees the versions, and which permissions are missing', {
  yaml: YAML,
}, async (t, { page, url, client }) => {
  const alice = client({ principal: 'user:alice' })
  const { memory_id: id } = await alice.retain({ bank_id: 'team', content: 'The team meets on Mondays.' })
  await alice.patchMemory({ bank_id: 'team', memory_id: id, patch: { content: 'The team meets on Tuesdays.' } })
  await page.goto(url(`memories?bank=team&memory=${id}`))
  await signInAs(page, 'user:carol')
  const view = page.locator('.memories-view')
  await view.getByText('What version 2 changed').waitFor()
  await view.getByText('You need write on this bank to change the memory.').waitFor()
  await view.getByText('You need forget on this bank to empty an earlier version.').waitFor()
  t.equal(await view.getByRole('button', { name: /^Empty/ }).count(), 0)
  const edit = view.getByRole('button', { name: 'Edit…' })
  t.equal(await edit.getAttribute('aria-disabled'), 'true')
  t.equal(await edit.getAttribute('aria-describedby'), 'needs-write-to-change')
  await edit.click({ force: true })
  t.equal(await page.getByRole('dialog').count(), 0)
  await hasNoViolation(t, page, 'for a reader')
  await page.goto(url('banks?bank=team'))
  await signInAs(page, 'user:carol')
  await page.getByText('You need admin on this bank to set it back.').waitFor()
})
