import { chooseBank, consoleTest, hasCount, hasNoViolation, settled, signInAs } from '../browser.js'

const TOKEN = 'an admin token of at least thirty-two bytes'
const YAML = `
access_control: {enabled: true, default_policy: owner_only}
access_grants:
  - {bank_id: 'team-*', principal: 'user:*', permissions: [read]}
  - {bank_id: team-notes, principal: 'user:bob', permissions: [write, forget]}
`
const GUARDED = { yaml: YAML, env: { SERVICE_ADMIN_TOKEN: TOKEN } }

consoleTest('the caller sees each of its permissions with the rule ' +
  'that grants it', GUARDED, async (t, { page, url, client }) => {
  await client().retain({ bank_id: 'user-bob', content: 'Bob rows.' })
  await client().retain({ bank_id: 'team-notes', content: 'We meet on Mondays.' })
  await client().retain({ bank_id: 'user-alice', content: 'Alice drinks tea.' })
  await page.goto(url('access'))
  await signInAs(page, 'user:bob')
  const matrix = page.getByRole('table', { name: 'What you may do' })
  const rowOf = (bank: string) => matrix.getByRole('row').filter({ hasText: bank })
  await rowOf('team-notes').waitFor()
  t.match(
    await rowOf('team-notes').textContent(),
    /user:bob.*access_grants\[0\].*access_grants\[1\].*access_grants\[1\].*–no$/s,
  )
  t.match(await rowOf('user-bob').textContent(), /(default_policy owner_only.*){4}/s)
  t.equal(await rowOf('user-alice').count(), 0, 'the banks of others are not named')
  await hasNoViolation(t, page, 'the matrix of the caller')
  await page.getByLabel('Bank contains').fill('notes')
  await hasCount(t, matrix.getByRole('row'), 2)

  await chooseBank(page, 'user-alice')
  await page.getByText('may do nothing on').waitFor()
  t.match(page.url(), /bank=user-alice/)
  await page.getByRole('link', { name: 'Anyone' }).click()
  await page.getByText('What others may do needs the admin token').waitFor()
  await hasNoViolation(t, page, 'without the admin token')
})

consoleTest('with the admin token the permissions of any principal are shown, compared and checked', {
  ...GUARDED, expectedErrors: [/status of 40[01]/],
}, async (t, { page, url, client }) => {
  await client().retain({ bank_id: 'user-bob', content: 'Bob rows.' })
  await client().retain({ bank_id: 'team-notes', content: 'We meet on Mondays.' })
  await page.goto(url('access?principal=user:bob&principal=user:alice'))
  await signInAs(page, 'user:carol')
  await page.getByLabel('Admin token').fill('wrong')
  await page.getByRole('button', { name: 'Use the token' }).click()
  await page.getByText('The server has refused the admin token.').waitFor()
  await page.getByLabel('Admin token').fill(TOKEN)
  await page.getByRole('button', { name: 'Use the token' }).click()
  const matrix = page.getByRole('table', { name: 'What the principals may do' })
  await matrix.getByText('user:alice').first().waitFor()
  await hasCount(t, matrix.getByRole('row'), 5, 'two banks for each of two principals')
  const rowOf = (bank: string, principal: string) => (
    matrix.getByRole('row').filter({ hasText: bank }).filter({ hasText: principal }))
  t.match(await rowOf('user-bob', 'user:alice').textContent(), /(–no){4}$/)
  t.match(await rowOf('team-notes', 'user:alice').textContent(), /access_grants\[0\].*–no–no–no$/s)
  await page.getByLabel('Only where something is granted').check()
  await hasCount(t, matrix.getByRole('row'), 4)
  await hasNoViolation(t, page, 'the matrix of anyone')
  await page.setViewportSize({ width: 360, height: 740 })
  t.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360, 'nothing is wider than the screen')

  const box = page.getByRole('region', { name: 'Check a permission', exact: true })
  await box.getByLabel('Principal').fill('user:bob')
  await box.getByLabel('Bank').fill('team-secrets')
  await box.getByLabel('Permission').selectOption('write')
  await box.getByRole('button', { name: 'Check' }).click()
  await box.getByText("Principal 'user:bob' is denied 'write' on bank 'team-secrets'").waitFor()
  await box.getByText('Denied', { exact: true }).waitFor()
  await box.getByLabel('Permission').selectOption('read')
  await box.getByLabel('Permission').press('Enter')
  await box.getByRole('button', { name: 'Check' }).click()
  await box.getByText('Allowed by access_grants[0]').waitFor()
  await box.getByLabel('Principal').fill('user bob')
  await box.getByRole('button', { name: 'Check' }).click()
  await box.getByRole('alert').getByText('invalid_request', { exact: true }).waitFor()

  await page.getByRole('link', { name: 'Rules' }).click()
  await page.getByText('owner_only: where no grant matches').waitFor()
  t.match(
    await page.getByRole('row').filter({ hasText: 'team-notes' }).textContent(),
    /user:bobwrite, forgetaccess_grants\[1\]/,
  )
  await hasNoViolation(t, page, 'the rules')
  t.notMatch(page.url(), /token/)
})

const MANY = 50

consoleTest('fifty principals on fifty banks are one overview, with links to the rules of each', {
  ...GUARDED,
  yaml: `${YAML}${Array.from({ length: MANY }, (_, index) => (
    `  - {bank_id: 'project-${index}', principal: 'user:person-${index}', permissions: [read, write]}\n`
  )).join('')}`,
}, async (t, { page, url, client }) => {
  for (let index = 0; index < MANY; index++) {
    await client().retain({ bank_id: `project-${index}`, content: 'It began in spring.' })
  }
  const named = Array.from({ length: MANY + 1 }, (_, index) => `principal=user:person-${index}`).join('&')
  await page.goto(url(`access?view=anyone&${named}`))
  await signInAs(page, 'user:carol')
  await page.getByLabel('Admin token').fill(TOKEN)
  await page.keyboard.press('Enter')
  const grid = page.getByRole('table', { name: 'What many principals may do' })
  await hasCount(t, grid.getByRole('row'), MANY + 1)
  await page.getByText('The URL names 1 more principal than the 50').waitFor()
  await hasCount(t, grid.getByRole('columnheader'), MANY + 1)
  t.equal(await grid.getByText('read, write', { exact: true }).count(), MANY, 'each may read and write on its own')
  await page.getByLabel('Bank contains').fill('project-49')
  await hasCount(t, grid.getByRole('row'), 2)
  await hasNoViolation(t, page, 'the overview of many')
  await page.setViewportSize({ width: 360, height: 740 })
  t.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360, 'nothing is wider than the screen')
  await grid.getByRole('link', { name: 'user:person-49' }).focus()
  await page.keyboard.press('Enter')
  const matrix = page.getByRole('table', { name: 'What the principals may do' })
  const row = matrix.getByRole('row').filter({ hasText: 'project-49' })
  await row.getByText('access_grants[51]').first().waitFor()
})

const HOSTILE = '<script>alert(1)</script>\u202egnp'

consoleTest('a hostile name in a shared URL is shown as text, and refusals of the server are shown', {
  expectedErrors: [/status of 400/],
}, async (t, { page, url, client }) => {
  await client().retain({ bank_id: 'team', content: 'We meet on Mondays.' })
  await page.goto(url(`access?principal=${encodeURIComponent('<img/src=x>')}&principal=${encodeURIComponent(HOSTILE)}`))
  await signInAs(page, 'user:alice')
  await page.getByRole('alert').getByText('invalid_request', { exact: true }).waitFor()
  await page.goto(url(`access?principal=${encodeURIComponent('<img/src=x>')}`))
  await signInAs(page, 'user:alice')
  await page.getByRole('table', { name: 'What the principals may do' }).getByText('<img/src=x>').waitFor()
  t.equal(await page.locator('main script, main img').count(), 0)
})

consoleTest('callers without permissions, or on servers without any, get a message', {}, async (t, { page, url }) => {
  await page.goto(url('access'))
  await signInAs(page, 'user:bob')
  await page.getByText('There is no bank that you may read.').waitFor()
  await settled(page)
  await hasNoViolation(t, page, 'no bank')
  await page.getByRole('link', { name: 'Rules' }).click()
  await page.getByText('Access control is off').waitFor()
})
