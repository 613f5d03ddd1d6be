import { chooseBank, consoleTest, currentBank, hasNoViolation, settled, signInAs } from '../browser.js'
import { Gate } from '../gate.js'
import { open } from '../every-page.js'

const SHARED = `
access_control: {enabled: true, default_policy: owner_only}
access_grants: [{bank_id: team, principal: 'user:*', permissions: [read, write]}]
`

consoleTest('the bank is chosen once, from a list or by its id, and is kept from page to page', {}, async (
  t, { page, url, client },
) => {
  for (const bank of ['user-alice', 'team']) await client().retain({ bank_id: bank, content: `${bank} drinks tea.` })
  await page.goto(url())
  await signInAs(page, 'user:alice')
  await page.getByRole('heading', { name: 'Which bank?' }).waitFor()
  await hasNoViolation(t, page, 'no bank')
  await page.getByRole('list', { name: 'Banks' }).getByRole('link', { name: 'team' }).click()
  await page.getByRole('listbox', { name: 'Memories' }).getByText('team drinks tea.').waitFor()
  t.match(page.url(), /\/console\/\?bank=team$|memories\?bank=team$/)
  for (const title of ['Ask', 'Recall lab', 'Access', 'Memories']) {
    await open(page, title)
    t.match(page.url(), /\?bank=team$/, title)
    t.equal(await currentBank(page).textContent(), 'team', title)
  }
  await open(page, 'Overview')
  t.equal(await currentBank(page).textContent(), 'team', 'on a page of the server, too')
  t.match(page.url(), /overview$/)
  await open(page, 'Ask')
  await page.getByRole('button', { name: /^Bank / }).click()
  await hasNoViolation(t, page, 'the choice')
  await page.getByRole('dialog').getByRole('link', { name: 'user-alice' }).click()
  await page.waitForURL(/reflect\?bank=user-alice$/)
  await chooseBank(page, 'user-carol')
  await page.waitForURL(/reflect\?bank=user-carol$/)
  await page.goBack()
  await page.waitForURL(/reflect\?bank=user-alice$/)
  t.equal(await currentBank(page).textContent(), 'user-alice')
  await open(page, 'Sources')
  await chooseBank(page, 'team')
  await page.getByRole('listbox', { name: 'Memories' }).getByText('team drinks tea.').waitFor()
})

consoleTest('what is typed stays when the list of banks arrives, and filters it', {}, async (
  t, { page, url, client },
) => {
  for (const bank of ['team', 'user-bob']) await client().retain({ bank_id: bank, content: 'Tea.' })
  await page.goto(url('recall?bank=user-alice'))
  await signInAs(page, 'user:alice')
  await settled(page)
  const gate = new Gate()
  await page.route('**/v1/banks?**', gate.hold)
  await page.getByRole('button', { name: /^Bank / }).click()
  const field = page.getByLabel('Bank id')
  await field.fill('tea')
  await gate.has(1)
  await page.unroute('**/v1/banks?**')
  await gate.release()
  const choices = page.getByRole('dialog').getByRole('link')
  await choices.getByText('team', { exact: true }).waitFor()
  t.same(await choices.allTextContents(), ['Use tea', 'team'])
  t.equal(await field.inputValue(), 'tea')
})

consoleTest('a caller who may read one bank need not choose it', { yaml: SHARED }, async (t, { page, url, client }) => {
  await client({ principal: 'user:bob' }).retain({ bank_id: 'team', content: 'The team drinks tea.' })
  await page.goto(url())
  await signInAs(page, 'user:alice')
  await page.getByRole('listbox', { name: 'Memories' }).getByText('The team drinks tea.').waitFor()
  t.match(page.url(), /\?bank=team$/)
})

consoleTest('an action that the caller may not use says which permission is missing', {
  yaml: SHARED,
}, async (t, { page, url, client }) => {
  await client({ principal: 'user:bob' }).retain({ bank_id: 'team', content: 'The team drinks tea.' })
  await page.goto(url('memories?bank=team'))
  await signInAs(page, 'user:alice')
  await page.getByText('You need admin on this bank to export or import.').waitFor()
  await page.getByText('You need forget on this bank to forget.').waitFor()
  for (const [name, permission] of [['Forget…', 'forget'], ['Export…', 'admin'], ['Import…', 'admin']] as const) {
    const button = page.getByRole('button', { name })
    t.match(await button.getAttribute('aria-disabled'), 'true', name)
    t.equal(await button.getAttribute('aria-describedby'), `needs-${permission}`, name)
    // Playwright waits for an enabled button otherwise.
    await button.click({ force: true })
    t.equal(await page.getByRole('dialog').count(), 0, name)
  }
  await hasNoViolation(t, page, 'disabled actions')
  await page.getByRole('button', { name: 'Retain…' }).click()
  await page.getByRole('dialog', { name: 'Retain a memory' }).waitFor()
})

consoleTest('an empty server and an empty bank show a first call, which works', {}, async (
  t, { page, url, client },
) => {
  await page.goto(url())
  await signInAs(page, 'user:alice')
  const call = page.getByRole('region', { name: 'A first call' })
  await call.waitFor()
  await hasNoViolation(t, page, 'an empty server')
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'Copy the call' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  const copied = await page.evaluate<string>('navigator.clipboard.readText()')
  t.equal(copied, await call.textContent())
  t.match(copied, `curl '${new URL('/v1/retain', url()).href}'`)
  const [, principal, body] = /X-Service-Principal: (\S+)'[^]*-d '([^']+)'/.exec(copied) ?? []
  await client({ principal: principal ?? '' }).retain(JSON.parse(body ?? ''))
  await page.getByRole('link', { name: 'Then open user-alice' }).click()
  await page.getByRole('listbox', { name: 'Memories' }).getByText('Alice drinks green tea').waitFor()

  await chooseBank(page, 'team')
  await page.getByText('This bank is empty, or does not exist yet.').waitFor()
  t.match(await call.textContent(), '"bank_id":"team"')
  await hasNoViolation(t, page, 'an empty bank')
  for (const title of ['Ask', 'Recall lab']) {
    await page.getByRole('link', { name: title }).click()
    await page.getByRole('heading', { level: 1, name: title }).waitFor()
    await page.getByText('This bank is empty, or does not exist yet.').waitFor()
    t.match(await call.textContent(), '"bank_id":"team"', title)
    await hasNoViolation(t, page, `an empty bank, ${title}`)
  }
})
