import { consoleTest, hasNoViolation, signInAs } from '../browser.js'

const YAML = `
access_control: {enabled: true, default_policy: deny}
access_grants:
  - {bank_id: team, principal: 'user:alice', permissions: ['*']}
  - {bank_id: team, principal: 'user:bob', permissions: [read]}
homeostasis: {recall_max_tokens: 4000}
`

consoleTest('an admin sets the mission, a limit and a grant', {
  yaml: YAML, expectedErrors: [/status of 400/], onBeforeUnload: 'leave',
}, async (t, { page, url, client }) => {
  const alice = client({ principal: 'user:alice' })
  await alice.retain({ bank_id: 'team', content: 'The team meets on Mondays.' })
  await page.goto(url('banks?bank=team'))
  await signInAs(page, 'user:alice')
  const form = page.getByRole('form', { name: 'Settings of the bank' })
  await form.getByText('Nothing is set').waitFor()
  const save = form.getByRole('button', { name: 'Save the settings' })
  t.ok(await save.isDisabled(), 'nothing is to be saved')
  const limit = form.getByLabel('Tokens of a recall')
  const facts = form.locator('.setting', { has: page.getByLabel('Tokens of a recall') }).locator('.hint')
  t.match(await facts.textContent(), /In force: 4,000, from the server's file\. At most 4,000\./)

  await form.getByLabel('Mission').fill('Answer briefly.')
  await limit.fill('8000')
  await form.getByLabel('Add a principal').fill('agent:planner')
  await page.keyboard.press('Enter')
  await form.getByLabel('write for agent:planner').check()
  await save.click()
  await facts.getByText('must be at most 4000').waitFor()
  t.equal(await limit.getAttribute('aria-invalid'), 'true')
  t.equal((await alice.getBankConfig({ bank_id: 'team' })).updated_at, null, 'nothing is saved')
  await hasNoViolation(t, page, 'a refused limit')

  await limit.fill('1000')
  await save.click()
  await form.getByText('Last changed').waitFor()
  t.match(await facts.textContent(), /In force: 1,000, set here\. At most 4,000\./)
  t.same((await alice.getBankConfig({ bank_id: 'team' })).config, {
    mission: 'Answer briefly.',
    homeostasis: { recall_max_tokens: 1000 },
    access: [{ principal: 'agent:planner', permissions: ['read', 'write'] }],
  })

  await limit.fill('')
  await form.getByRole('button', { name: 'Remove agent:planner' }).click()
  await save.click()
  await facts.getByText('In force: 4,000').waitFor()
  t.same((await alice.getBankConfig({ bank_id: 'team' })).config, { mission: 'Answer briefly.', homeostasis: {} })
  await hasNoViolation(t, page, 'the settings')
})

consoleTest('changes of somebody else are not overwritten', {
  yaml: YAML, expectedErrors: [/status of 412/], viewport: { width: 390, height: 800 },
}, async (t, { page, url, client }) => {
  const alice = client({ principal: 'user:alice' })
  await page.goto(url('banks?bank=team'))
  await signInAs(page, 'user:alice')
  const form = page.getByRole('form', { name: 'Settings of the bank' })
  await form.getByLabel('Mission').fill('Answer briefly.')
  await alice.patchBankConfig({ bank_id: 'team', patch: { description: 'Of the team.' } })
  const save = form.getByRole('button', { name: 'Save the settings' })
  await save.click()
  await form.getByText('Somebody else has changed these settings').waitFor()
  await hasNoViolation(t, page, 'a conflict')
  await form.getByRole('button', { name: 'Load their settings and keep my changes' }).click()
  await form.getByText('Last changed').waitFor()
  t.equal(await form.getByLabel('Description').inputValue(), 'Of the team.')
  t.equal(await form.getByLabel('Mission').inputValue(), 'Answer briefly.')
  await save.click()
  await page.locator('form[aria-label="Settings of the bank"] button.primary:disabled').waitFor()
  t.same((await alice.getBankConfig({ bank_id: 'team' })).config, {
    description: 'Of the team.', mission: 'Answer briefly.',
  })
  const { scrollWidth, clientWidth } = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    return { scrollWidth, clientWidth }
  })
  t.equal(scrollWidth, clientWidth, 'nothing is wider than the screen')
})

consoleTest('a caller without admin reads which permission is missing', { yaml: YAML }, async (t, { page, url }) => {
  await page.goto(url('banks?bank=team'))
  await signInAs(page, 'user:bob')
  await page.getByText('You need admin on this bank to see and change these settings.').waitFor()
  t.equal(await page.getByRole('form', { name: 'Settings of the bank' }).count(), 0)
})
