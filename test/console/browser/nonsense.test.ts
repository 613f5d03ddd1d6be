import { consoleTest, hasNoViolation, signInAs } from '../browser.js'

/** Neither ids, nor numbers, nor names of anything. */
const NONSENSE = [
  '..', '../../v1/admin/status', '<script>alert(1)</script>', '%00%2e', "';drop table", '🦀\u202e\u0000',
  'a'.repeat(3000),
]

consoleTest('an invalid input is shown with its problem', {
  expectedErrors: [/status of 4\d\d/], yaml: 'access_control: {enabled: true, default_policy: open}',
}, async (t, { page, url }) => {
  await page.goto(url())
  for (const [wrong, message] of [
    ['user:\u0001', 'This contains a character that an HTTP header cannot contain.'],
    ['user:\u202e', 'must be 1 to 256 visible characters without spaces'],
  ] as const) {
    await page.getByLabel('Principal').fill(wrong)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText(message).waitFor()
  }
  await signInAs(page, 'user:alice')
  const failure = page.getByRole('main').getByRole('alert').first()
  const refused = page.getByText('This is not the id of a bank.')
  for (const name of ['memories', 'recall', 'reflect', 'access', 'banks', 'admin']) {
    for (const wrong of NONSENSE) {
      await page.goto('about:blank')
      const encoded = encodeURIComponent(wrong)
      await page.goto(url(`${name}?bank=${encoded}&days=x&memory=${encoded}&why=${encoded}&order=x&trust=x`))
      await signInAs(page, 'user:alice')
      const what = wrong.slice(0, 30)
      if (name === 'recall' || name === 'reflect' || name === 'memories') {
        await refused.waitFor()
        await page.getByRole('heading', { name: 'Which bank?' }).waitFor()
        for (const button of ['Retain…', 'Import…', 'Recall', 'Explain', 'Ask']) {
          const found = page.getByRole('button', { name: button, exact: true })
          t.equal(await found.count(), 0, `${name}: ${what}: ${button}`)
        }
        continue
      }
      await failure.waitFor()
      // The client sends no name that would lead elsewhere.
      const expected = wrong === '..'
        ? /Not a valid name of a bank or memory|invalid_request/
        : /invalid_request|not_found/
      t.match(await failure.textContent(), expected, `${name}: ${what}`)
    }
  }
  t.equal(await page.locator('main script').count(), 0)
  await page.goto(url('recall?bank=user-alice&more=user-bob,user%20carol'))
  await signInAs(page, 'user:alice')
  await page.getByLabel('Query').fill('What?')
  const recall = page.getByRole('button', { name: 'Recall', exact: true })
  await recall.and(page.locator(':enabled')).waitFor()
  await page.getByLabel('More banks').fill('user-bob, user/carol')
  await page.getByLabel('More banks').blur()
  await refused.waitFor()
  t.ok(await recall.isDisabled(), 'one of several')
  await page.getByRole('button', { name: /^Bank / }).click()
  await page.getByLabel('Bank id').fill('user/alice')
  await page.getByRole('dialog').getByText('This is not the id of a bank.').waitFor()
  await page.keyboard.press('Enter')
  t.match(page.url(), /bank=user-alice&/, 'it is not chosen')
})

consoleTest('a form opens its closed part when a field in it is invalid', {}, async (t, { page, url, client }) => {
  await client().retain({ bank_id: 'user-alice', content: 'Alice drinks tea.' })
  await page.goto(url('reflect?bank=user-alice'))
  await signInAs(page, 'user:alice')
  const more = page.locator('summary', { hasText: 'Which memories, and how to answer' })
  await more.click()
  await page.getByLabel('Maximum tokens of the answer').fill('-5')
  await more.click()
  await page.getByLabel('Question', { exact: true }).fill('What does Alice drink?')
  for (const send of ['click', 'keys']) {
    if (send === 'click') await page.getByRole('button', { name: 'Ask', exact: true }).click()
    else await page.getByLabel('Question', { exact: true }).press('Control+Enter')
    await page.getByLabel('Maximum tokens of the answer').and(page.locator(':focus')).waitFor()
    t.equal(await page.getByRole('region', { name: 'Answer', exact: true }).count(), 0)
    await more.click()
  }
  await more.click()
  await page.getByLabel('Maximum tokens of the answer').fill('')
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await page.getByText('Total time').waitFor()
})

const DEEP = [
  ['overview', 'Overview'], ['banks?bank=user-alice&days=365', 'Banks'],
  ['memories?bank=user-alice&tag=a&tag=b&order=oldest', 'Memories'],
  ['recall?bank=user-alice&more=user-bob', 'Recall lab'], ['reflect?bank=user-alice', 'Ask'],
  ['access?view=rules', 'Access'],
  ['sources', 'Sources'], ['admin?bank=user-alice', 'Admin'], ['nowhere', 'No such page'],
] as const

consoleTest('a shared URL leads through the sign-in to its page', {}, async (t, { page, url }) => {
  for (const [path, title] of DEEP) {
    await page.goto(url(path))
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    t.equal(await page.getByRole('navigation', { name: 'Pages' }).count(), 0)
    await signInAs(page, 'user:alice')
    await page.getByRole('heading', { level: 1, name: title }).waitFor()
    t.equal(page.url(), url(path))
  }
  await hasNoViolation(t, page, 'no such page')
  await page.goto(url('callback'))
  await page.getByText('The server has no identity provider configured.').waitFor()
  await hasNoViolation(t, page, 'a way back from nowhere')
})
