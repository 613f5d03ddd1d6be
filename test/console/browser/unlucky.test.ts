import type { Page } from 'playwright-core'
import { piecemeal } from '../../helpers/language-server.js'
import { startServer } from '../../helpers/server.js'
import { chooseBank, consoleTest, currentBank, signInAs } from '../browser.js'
import { GatewayWithModel, GONE, KillableServer } from '../servers.js'

/** Counts requests by their method and path. */
function counted (page: Page): (key: string) => number {
  const counts = new Map<string, number>()
  page.on('request', (request) => {
    const key = `${request.method()} ${new URL(request.url()).pathname}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  })
  return (key) => counts.get(key) ?? 0
}

consoleTest('a double click sends one request', {}, async (t, { page, url, client }) => {
  const bank = 'user-alice'
  const requests = counted(page)
  await page.goto(url(`memories?bank=${bank}`))
  await signInAs(page, 'user:alice')
  await page.getByRole('button', { name: 'Retain…' }).click()
  const retain = page.getByRole('dialog', { name: 'Retain a memory' })
  await retain.getByLabel('Content').fill('Alice drinks tea.')
  await retain.getByRole('button', { name: 'Store' }).dblclick()
  await retain.getByText('Stored in one passage').waitFor()
  await page.keyboard.press('Escape')
  t.equal(requests('POST /v1/retain'), 1)

  const path = `${t.testdir({
    'team.ndjson': '{"format": "memory-gateway-export", "version": 1}\n{"text": "Alice sings."}\n',
  })}/team.ndjson`
  await page.getByRole('button', { name: 'Import…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Import' })
  await dialog.getByLabel('File').setInputFiles(path)
  await dialog.getByRole('button', { name: 'Import', exact: true }).dblclick()
  await dialog.getByText('Imported: 1;').waitFor()
  t.ok(await dialog.getByRole('button', { name: 'Import', exact: true }).isDisabled(), 'a file is sent once')
  await page.keyboard.press('Escape')
  t.equal((await client().getBank({ bank_id: bank })).memory_count, 2)

  // The neighbours of a memory that is already forgotten are 404.
  const neighbours = page.waitForResponse(/\/neighbours\?/)
  await page.getByRole('listbox').getByText('Alice sings.').click()
  await neighbours
  await page.locator('.memories-view').getByRole('button', { name: 'Forget…' }).click()
  await page.getByRole('button', { name: 'Forget 1 memory' }).dblclick()
  await page.getByText('1 memory is forgotten.').waitFor()
  await page.getByRole('button', { name: 'Undo' }).dblclick()
  await page.getByRole('listbox').getByText('Alice sings.').waitFor()
  t.equal((await client().getBank({ bank_id: bank })).memory_count, 2, 'a restored memory exists once')

  await page.goto(url('admin'))
  await signInAs(page, 'user:alice')
  await page.getByRole('button', { name: 'Reload the file' }).dblclick()
  await page.locator('.failure, .card :text("Nothing has changed since")').first().waitFor()
  t.equal(requests('POST /v1/admin/reload'), 1)

  await page.goto(url(`reflect?bank=${bank}`))
  await signInAs(page, 'user:alice')
  await page.getByLabel('Question', { exact: true }).fill('What does Alice drink?')
  await page.getByRole('button', { name: 'Ask', exact: true }).dblclick()
  await page.getByText('Total time').waitFor()
  t.equal(requests('POST /v1/reflect'), 1)
})

consoleTest('a tab reports which memories another tab has forgotten, and forgets the rest', {
  expectedErrors: [/status of 404/],
}, async (t, { page, url, client }) => {
  const bank = 'user-alice'
  const items = Array.from(
    { length: 30 }, (_, index) => ({ content: `Alice drinks tea number ${index}.`, tags: ['tea'] }),
  )
  const { results } = await client().retainBatch({ bank_id: bank, items })
  await page.goto(url(`memories?bank=${bank}`))
  await signInAs(page, 'user:alice')
  await page.getByRole('button', { name: 'Forget…' }).click()
  const choice = page.getByRole('dialog', { name: 'What is to be forgotten?' })
  await choice.getByLabel('Tags', { exact: true }).fill('tea')
  await page.keyboard.press('Enter')
  await choice.getByRole('button', { name: 'Show a preview' }).click()
  await page.getByText('30 memories would be forgotten').waitFor()

  const ids = results.flatMap((result) => 'memory_id' in result ? [String(result.memory_id)] : [])
  t.equal(ids.length, items.length)
  await client().forget({ bank_id: bank, memory_ids: ids.slice(0, 29) })
  await page.getByRole('button', { name: 'Forget 30 memories' }).click()
  await page.getByText('1 memory is forgotten.').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('listbox', { name: 'Memories' }).getByText('number 29').waitFor()
  t.equal((await client().getBank({ bank_id: bank })).memory_count, 1, 'what the other tab forgot is gone')

  const other = await page.context().newPage()
  await other.goto(url(`memories?bank=${bank}&memory=${ids[29] ?? ''}`))
  await signInAs(other, 'user:bob')
  await other.locator('.memories-content').getByText('number 29').waitFor()
  await page.locator('.identity', { hasText: 'user:alice' }).waitFor()
  await client().forget({ bank_id: bank, scope: 'all' })
  await page.getByRole('button', { name: 'Reload', exact: true }).click()
  await page.getByText('This bank is empty, or does not exist yet.').waitFor()
})

consoleTest('back and forward show the page of the URL', {}, async (t, { page, url, client }) => {
  for (const name of ['alice', 'bob']) {
    await client().retain({ bank_id: `user-${name}`, content: `${name} drinks tea.` })
  }
  await page.goto(url('memories?bank=user-alice'))
  await signInAs(page, 'user:alice')
  const list = page.getByRole('listbox', { name: 'Memories' })
  await list.getByText('alice drinks tea.').click()
  await page.waitForURL(/memory=/)
  await chooseBank(page, 'user-bob')
  await list.getByText('bob drinks tea.').waitFor()
  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByRole('link', { name: '2 banks' }).click()
  await page.getByRole('link', { name: 'user-bob', exact: true }).click()
  await page.getByRole('heading', { name: 'Growth by day' }).waitFor()
  for (let back = 0; back < 4; back++) await page.goBack()
  await page.waitForURL(/memory=/)
  await page.locator('.memories-content').getByText('alice drinks tea.').waitFor()
  t.equal(await currentBank(page).textContent(), 'user-alice')
  await page.goForward()
  await list.getByText('bob drinks tea.').waitFor()
  t.equal(await currentBank(page).textContent(), 'user-bob')
  t.equal(await page.locator('.memories-content').count(), 0)
})

const killable = new KillableServer()

consoleTest('a server that is restarted in another auth mode asks for the credentials of that mode', {
  expectedErrors: [...GONE, /status of 401/],
  start: killable.start,
}, async (t, { page, url, client }) => {
  await client({ principal: 'user:alice' }).retain({ bank_id: 'user-alice', content: 'Alice drinks tea.' })
  await page.goto(url('reflect?bank=user-alice'))
  await signInAs(page, 'user:alice')
  await page.getByLabel('Question', { exact: true }).fill('What does Alice drink?')
  await killable.kill()
  await startServer(t, {
    ...killable.settings,
    SERVICES_PORT: new URL(url()).port,
    SERVICE_AUTH_MODE: 'api_key',
    SERVICE_API_KEY: 'the shared secret',
    SERVICE_ADMIN_TOKEN: 'for operators',
  })
  // A poll of the page may meet the new server first, and the sign-in then covers the button.
  await page.locator('button', { hasText: /^Ask$/ }).dispatchEvent('click')
  await page.getByText('The server no longer accepts your credentials.').waitFor()
  await page.getByLabel('API key').fill('the shared secret')
  await page.getByLabel('Principal').fill('user:alice')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.locator('.identity', { hasText: 'user:alice' }).waitFor()
  t.equal(await page.getByLabel('Question', { exact: true }).inputValue(), 'What does Alice drink?')
  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByText('api_key: a shared key').waitFor()
  await page.getByLabel('Admin token').waitFor()
})

const gateway = new GatewayWithModel()

consoleTest('a page that is reloaded in the middle of an answer starts again', {
  start: gateway.startWith({}), onBeforeUnload: 'leave',
}, async (t, { page, url, client }) => {
  await client().retain({ bank_id: 'user-alice', content: 'Alice lives in Lyon.' })
  const { behaviour, say } = piecemeal()
  gateway.model.next(behaviour)
  await page.goto(url('reflect?bank=user-alice'))
  await page.getByLabel('Stay signed in').check()
  await signInAs(page, 'user:alice')
  const ask = async () => {
    await page.getByLabel('Question', { exact: true }).fill('Where does Alice live?')
    await page.getByRole('button', { name: 'Ask', exact: true }).click()
  }
  const answer = page.getByRole('region', { name: 'Answer', exact: true })
  await ask()
  say('Alice lives in Lyon. [1] ')
  say('She ')
  await answer.getByText('[1]').waitFor()
  await page.reload()
  await page.getByText('Ask something that the memories').waitFor()
  t.match(page.url(), /reflect\?bank=user-alice$/)
  await ask()
  await answer.getByText(/Tokens/).waitFor()
})
