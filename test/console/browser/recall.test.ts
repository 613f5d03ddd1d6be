import { chooseBank, consoleTest, hasCount, hasNoViolation, signInAs } from '../browser.js'

const DENIED = `
access_control: {enabled: true, default_policy: deny}
access_grants: [{bank_id: team, principal: 'user:alice', permissions: [read, write]}]
`

consoleTest('a query is compared under two settings with explanations', {}, async (t, { page, url, client }) => {
  const bank = 'user-alice'
  const contents = [
    'Alice drinks green tea.', 'Alice arrives in Lyon.', 'Tea grows in Assam, and tea is traded.', 'Bob cycles.',
  ]
  for (const content of contents) await client().retain({ bank_id: bank, content, tags: ['fact'] })
  const { memory_id: hidden } = await client().retain({
    bank_id: bank, content: 'Alice drinks tea at four.', tags: ['other'],
  })
  await page.goto(url('recall?bank=user-alice'))
  await signInAs(page, 'user:alice')
  await page.getByLabel('Query').fill('Who drinks tea?')
  await page.keyboard.press('Enter')
  const hits = page.getByRole('list', { name: 'Hits of Setting A' }).locator(':scope > li')
  await hits.first().waitFor()
  const stages = page.locator('.recall-stage-name')
  t.same(await stages.allTextContents(), ['read the query', 'search', 'rank', 'cut to the limits'])
  t.ok(await hits.first().locator('.recall-segment').count() >= 2, 'the parts of a score are bars')
  await page.getByText('What the score of hit 1 is made of').click()
  const scores = page.getByRole('table', { name: 'Scores of hit 1' })
  await scores.getByRole('rowheader', { name: 'words in common' }).waitFor()
  await page.getByText('The steps as tables').click()
  await page.getByRole('table', { name: 'Steps of Setting A' }).getByRole('rowheader', { name: 'search' }).waitFor()
  t.notMatch(page.url(), /tea/, 'the query is not in the URL')
  await hasNoViolation(t, page, 'an answer')

  await page.getByLabel('Compare with a second setting').check()
  const second = page.getByRole('group', { name: 'Setting B' })
  await second.getByLabel('Find memories').selectOption('lexical')
  await second.getByText('Filters, times and models').click()
  await second.getByLabel('Tags', { exact: true }).fill('fact')
  await page.keyboard.press('Enter')
  await second.getByLabel('Maximum results').fill('2')
  await page.getByRole('button', { name: 'Recall', exact: true }).click()
  const others = page.getByRole('list', { name: 'Hits of Setting B' }).locator(':scope > li')
  await others.first().waitFor()
  await hasCount(t, others, 2)
  t.ok(await others.locator('.badge').count() >= 2, 'each shows how its rank changed')
  await page.getByText('of Setting A not here').click()
  await hasNoViolation(t, page, 'two settings')
  const lost = page.locator('.recall-missing li', { hasText: 'Alice drinks tea at four.' })
  await lost.getByRole('button', { name: 'why not?' }).click()
  await page.getByText('A filter excludes it.').waitFor()
  await page.getByText('not satisfied: tags').waitFor()
  t.equal(await page.getByLabel('Id of a memory').inputValue(), hidden)
  await page.getByLabel('With the settings of').selectOption('0')
  await page.getByRole('button', { name: 'Explain', exact: true }).click()
  await page.getByText('It is among the hits.').waitFor()
  await page.getByRole('button', { name: 'Choose from the list…' }).click()
  await page.getByRole('listbox', { name: 'Memories to choose from' }).getByText('Bob cycles.').waitFor()
  await hasNoViolation(t, page, 'the list to pick from')
  await page.getByRole('listbox', { name: 'Memories to choose from' }).getByText('Bob cycles.').click()
  await page.getByText('It matches the query neither by words nor by meaning.').waitFor()
  await page.locator('.recall-explained', { hasText: 'Bob cycles.' }).waitFor()
  await hasNoViolation(t, page, 'an explanation')
})

consoleTest('a caller without permissions and an unsupported setting have their own messages', {
  yaml: DENIED, expectedErrors: [/status of 501/],
}, async (t, { page, url, client }) => {
  await client({ principal: 'user:alice' }).retain({ bank_id: 'team', content: 'The team drinks tea.' })
  await page.goto(url('recall?bank=team'))
  await signInAs(page, 'user:bob')
  await page.getByText('You need read on this bank to search it.').waitFor()
  await page.getByLabel('Query').fill('tea')
  await page.keyboard.press('Enter')
  const button = page.getByRole('button', { name: 'Recall', exact: true })
  t.equal(await button.getAttribute('aria-disabled'), 'true')
  t.equal(await button.getAttribute('aria-describedby'), 'needs-read')
  await hasNoViolation(t, page, 'a denial')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await signInAs(page, 'user:alice')
  await page.getByLabel('Query').fill('tea')
  await page.getByText('Filters, times and models').click()
  await page.getByLabel(/model_rerank/).check()
  await page.getByRole('button', { name: 'Recall', exact: true }).click()
  await page.getByRole('alert').getByText('not_supported').waitFor()
})

consoleTest('the answer of one setting stays when the server refuses the other', {
  expectedErrors: [/status of 501/],
}, async (_t, { page, url, client }) => {
  await client().retain({ bank_id: 'user-alice', content: 'Alice drinks tea.' })
  await page.goto(url('recall?bank=user-alice'))
  await signInAs(page, 'user:alice')
  await page.getByLabel('Query').fill('tea')
  await page.getByLabel('Compare with a second setting').check()
  const second = page.getByRole('group', { name: 'Setting B' })
  await second.getByText('Filters, times and models').click()
  await second.getByLabel(/model_rerank/).check()
  await page.getByRole('button', { name: 'Recall', exact: true }).click()
  await page.getByRole('alert').getByText('not_supported').waitFor()
  await page.getByRole('list', { name: 'Hits of Setting A' }).getByText('Alice drinks tea.').waitFor()
})

consoleTest('days of a query are those of the user at the reference time', {}, async (t, { page, url, client }) => {
  const bank = 'user-alice'
  const met = [['Alice met Eve.', '2026-04-29T12:00:00Z'], ['Alice met Bob.', '2026-04-30T12:00:00Z']] as const
  for (const [content, occurred] of met) await client().retain({ bank_id: bank, content, occurred_at: occurred })
  await page.goto(url(`recall?bank=${bank}`))
  await signInAs(page, 'user:alice')
  await page.getByLabel('Query').fill('Whom did Alice meet yesterday?')
  await page.getByText('Filters, times and models').click()
  // Half past one in Berlin is the evening before in UTC.
  await page.getByLabel('Reference time').fill('2026-05-01T01:30:00')
  await page.getByText('= 2026-04-30 23:30:00 UTC').waitFor()
  const recalled = page.waitForRequest('**/v1/recall')
  await page.getByRole('button', { name: 'Recall', exact: true }).click()
  t.match((await recalled).postDataJSON(), { reference_time: '2026-05-01T01:30:00+02:00' })
  const hits = page.getByRole('list', { name: 'Hits of Setting A' }).locator(':scope > li')
  await hits.first().waitFor()
  t.match(await hits.first().textContent(), /Alice met Bob/)

  await page.goto(url(`reflect?bank=${bank}`))
  await signInAs(page, 'user:alice')
  await page.getByLabel('Question', { exact: true }).fill('Whom did Alice meet yesterday?')
  await page.getByText('Which memories, and how to answer').click()
  await page.getByLabel('Reference time').fill('2026-01-01T00:30')
  const reflected = page.waitForRequest('**/v1/reflect')
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  t.match((await reflected).postDataJSON(), { reference_time: '2026-01-01T00:30:00+01:00' })
  await page.getByText('Total time').waitFor()
})

consoleTest('the recall lab names what is missing', {}, async (t, { page, url }) => {
  await page.goto(url('recall'))
  await signInAs(page, 'user:alice')
  await page.getByRole('heading', { name: 'Which bank?' }).waitFor()
  await hasNoViolation(t, page, 'without a bank')
  await chooseBank(page, 'user-alice')
  await page.getByText('This bank is empty').waitFor()
})
