import type { Page, Route } from 'playwright-core'
import type { Test } from 'tap'
import { testApp } from '../../helpers/app.js'
import { piecemeal, startLanguageServer, type LanguageServer } from '../../helpers/language-server.js'
import { startServer } from '../../helpers/server.js'
import { consoleTest, hasNoViolation, signInAs, startConsoleServer, type StartedServer } from '../browser.js'

const GONE = [/ERR_CONNECTION_REFUSED/, /ERR_CONNECTION_RESET/, /ERR_EMPTY_RESPONSE/, /ERR_SOCKET_NOT_CONNECTED/]

/** Holds the requests that a test chooses until it lets them go. */
class Gate {
  readonly #held: Route[] = []
  #wake = () => {}

  readonly hold = (route: Route): void => {
    this.#held.push(route)
    this.#wake()
  }

  /** Waits until as many are held. */
  async has (count: number): Promise<void> {
    while (this.#held.length < count) await new Promise<void>((resolve) => { this.#wake = resolve })
  }

  /** What was aborted meanwhile is gone. */
  async release (): Promise<void> {
    for (const route of this.#held.splice(0)) await route.continue().catch(() => {})
  }
}

/** Counts requests by their method and path. */
function counted (page: Page): (key: string) => number {
  const counts = new Map<string, number>()
  page.on('request', (request) => {
    const key = `${request.method()} ${new URL(request.url()).pathname}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  })
  return (key) => counts.get(key) ?? 0
}

consoleTest('answers that come late and out of order never take the place of newer ones', {}, async (t, { page, url, client }) => {
  const bank = 'user-alice'
  const texts = ['Alice drinks tea.', 'Alice plays the cello.']
  for (const content of texts) await client().retain({ bank_id: bank, content })
  await page.goto(url(`recall?bank=${bank}`))
  await signInAs(page, 'user:alice')
  const query = page.getByLabel('Query')
  await query.fill('Alice')
  await page.keyboard.press('Enter')
  await page.locator('.recall-hit').nth(1).waitFor()
  const gate = new Gate()
  await page.route('**/v1/recall/explain', gate.hold, { times: 1 })
  await page.getByRole('button', { name: 'Explain hit 1' }).click()
  await gate.has(1)
  await page.getByRole('button', { name: 'Explain hit 2' }).click()
  const explained = page.locator('.recall-explained')
  await explained.waitFor()
  const shown = await explained.textContent()
  await gate.release()
  await query.fill('tea')
  await page.route('**/v1/recall', gate.hold, { times: 1 })
  await page.keyboard.press('Enter')
  await gate.has(1)
  await query.fill('cello')
  await page.keyboard.press('Enter')
  await page.locator('.recall-hit', { hasText: 'cello' }).waitFor()
  await gate.release()
  await page.getByRole('button', { name: 'Explain', exact: true }).click()
  await explained.waitFor()
  t.equal(await explained.textContent(), shown, 'the explanation is that of the memory that is named')
  t.equal(await page.locator('.recall-hit', { hasText: 'tea' }).count(), 0, 'hits of the older query do not come')
  await page.getByLabel(/^Bank/).fill('user-bob')
  await page.keyboard.press('Enter')
  await page.getByText('Ask what an agent would ask.').waitFor()
  t.equal(await page.locator('.recall-hit, .recall-explained').count(), 0, 'nor does what another bank has stay')

  await page.goto(url(`memories?bank=${bank}`))
  await signInAs(page, 'user:alice')
  const search = page.getByLabel('Full text')
  await search.fill('cello')
  await page.keyboard.press('Enter')
  const found = page.getByRole('listbox', { name: 'Memories found' })
  await found.getByText('cello').waitFor()
  await page.route('**/v1/recall', gate.hold, { times: 1 })
  await search.fill('tea')
  await page.keyboard.press('Enter')
  await gate.has(1)
  await page.getByText('Searching…').waitFor()
  t.equal(await found.count(), 0, 'what other words have found is not shown meanwhile')
  await gate.release()
  await found.getByText('tea').waitFor()

  await page.getByRole('button', { name: 'Show all' }).click()
  await page.route(/memories\?.*document_id/, gate.hold, { times: 1 })
  await page.locator('summary', { hasText: 'Filters' }).click()
  await page.getByLabel('Document').fill('none')
  await page.getByLabel('Document').press('Enter')
  await gate.has(1)
  await page.getByRole('button', { name: 'Take all filters away' }).click()
  await page.getByRole('listbox', { name: 'Memories' }).getByText('cello').waitFor()
  await gate.release()
  t.equal(await page.getByText('No memory passes the filters.').count(), 0)
})

consoleTest('a server whose answers take longer than the page asks again is still shown', {}, async (t, { page, url }) => {
  await page.clock.install()
  const gate = new Gate()
  await page.route('**/health', gate.hold)
  await page.goto(url())
  await signInAs(page, 'user:alice')
  await gate.has(1)
  await page.clock.runFor(60_000)
  await page.unroute('**/health')
  await gate.release()
  await page.getByRole('region', { name: 'Health' }).getByText('answers within').first().waitFor()
  t.pass('the first answer is waited for')
})

consoleTest('a double click sends once', {}, async (t, { page, url, client }) => {
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

  const path = `${t.testdir({ 'team.ndjson': '{"format": "memory-gateway-export", "version": 1}\n{"text": "Alice sings."}\n' })}/team.ndjson`
  await page.getByRole('button', { name: 'Import…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Import' })
  await dialog.getByLabel('File').setInputFiles(path)
  await dialog.getByRole('button', { name: 'Import', exact: true }).dblclick()
  await dialog.getByText('Imported: 1;').waitFor()
  t.ok(await dialog.getByRole('button', { name: 'Import', exact: true }).isDisabled(), 'a file is taken once')
  await page.keyboard.press('Escape')
  t.equal((await client().getBank({ bank_id: bank })).memory_count, 2)

  await page.getByRole('listbox').getByText('Alice sings.').click()
  await page.locator('.memories-view').getByRole('button', { name: 'Forget…' }).click()
  await page.getByRole('button', { name: 'Forget 1 memory' }).dblclick()
  await page.getByText('1 memory is forgotten.').waitFor()
  await page.getByRole('button', { name: 'Undo' }).dblclick()
  await page.getByRole('listbox').getByText('Alice sings.').waitFor()
  t.equal((await client().getBank({ bank_id: bank })).memory_count, 2, 'what is put back is there once')

  await page.goto(url('admin'))
  await signInAs(page, 'user:alice')
  await page.getByRole('button', { name: 'Apply the file as it is now' }).dblclick()
  await page.locator('.failure, .card :text("Nothing has changed since")').first().waitFor()
  t.equal(requests('POST /v1/admin/reload'), 1)

  await page.goto(url(`reflect?bank=${bank}`))
  await signInAs(page, 'user:alice')
  await page.getByLabel('Question', { exact: true }).fill('What does Alice drink?')
  await page.getByRole('button', { name: 'Ask', exact: true }).dblclick()
  await page.getByText('All after').waitFor()
  t.equal(requests('POST /v1/reflect'), 1)
})

consoleTest('two tabs: what one forgets, the other tells of, and forgets the rest', {
  expectedErrors: [/status of 404/],
}, async (t, { page, url, client }) => {
  const bank = 'user-alice'
  const items = Array.from({ length: 30 }, (_, index) => ({ content: `Alice drinks tea number ${index}.`, tags: ['tea'] }))
  const { results } = await client().retainBatch({ bank_id: bank, items })
  await page.goto(url(`memories?bank=${bank}`))
  await signInAs(page, 'user:alice')
  await page.getByRole('button', { name: 'Forget…' }).click()
  const choice = page.getByRole('dialog', { name: 'What is to be forgotten?' })
  await choice.getByLabel('Tags to forget', { exact: true }).fill('tea')
  await page.keyboard.press('Enter')
  await choice.getByRole('button', { name: 'Show what would go' }).click()
  await page.getByText('30 memories would be forgotten').waitFor()

  const ids = results.flatMap((result) => 'memory_id' in result ? [String(result.memory_id)] : [])
  t.equal(ids.length, items.length)
  await client().forget({ bank_id: bank, memory_ids: ids.slice(0, 29) })
  await page.getByRole('button', { name: 'Forget 30 memories' }).click()
  await page.getByText('1 memory is forgotten.').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('listbox', { name: 'Memories' }).getByText('number 29').waitFor()
  t.equal((await client().getBank({ bank_id: bank })).memory_count, 1, 'what the other tab has forgotten stays so')

  const other = await page.context().newPage()
  await other.goto(url(`memories?bank=${bank}&memory=${ids[29] ?? ''}`))
  await signInAs(other, 'user:bob')
  await other.locator('.memories-content').getByText('number 29').waitFor()
  await page.locator('.identity', { hasText: 'user:alice' }).waitFor()
  await client().forget({ bank_id: bank, scope: 'all' })
  await page.getByRole('button', { name: 'Load anew' }).click()
  await page.getByText('The bank has no memories.').waitFor()
})

consoleTest('back and forward show what the address says', {}, async (t, { page, url, client }) => {
  for (const name of ['alice', 'bob']) {
    await client().retain({ bank_id: `user-${name}`, content: `${name} drinks tea.` })
  }
  await page.goto(url('memories?bank=user-alice'))
  await signInAs(page, 'user:alice')
  const list = page.getByRole('listbox', { name: 'Memories' })
  await list.getByText('alice drinks tea.').click()
  await page.waitForURL(/memory=/)
  await page.getByLabel('Bank').fill('user-bob')
  await page.keyboard.press('Enter')
  await list.getByText('bob drinks tea.').waitFor()
  await page.getByRole('link', { name: 'Banks' }).click()
  await page.getByRole('link', { name: 'user-bob', exact: true }).click()
  await page.getByRole('heading', { name: 'Growth by day' }).waitFor()
  for (let back = 0; back < 3; back++) await page.goBack()
  await page.waitForURL(/memory=/)
  await page.locator('.memories-content').getByText('alice drinks tea.').waitFor()
  t.equal(await page.getByLabel('Bank').inputValue(), 'user-alice')
  await page.goForward()
  await list.getByText('bob drinks tea.').waitFor()
  t.equal(await page.getByLabel('Bank').inputValue(), 'user-bob')
  t.equal(await page.locator('.memories-content').count(), 0)
})

let settings: Record<string, string>
let stop: () => Promise<void>

consoleTest('a server that is started anew in another auth mode asks for what that mode needs', {
  expectedErrors: [...GONE, /status of 401/],
  start: async (t) => {
    const server = await startConsoleServer(t, {})
    settings = server.settings
    stop = async () => {
      server.process.kill('SIGKILL')
      await server.ended
    }
    return server
  },
}, async (t, { page, url, client }) => {
  await client({ principal: 'user:alice' }).retain({ bank_id: 'user-alice', content: 'Alice drinks tea.' })
  await page.goto(url('reflect?bank=user-alice'))
  await signInAs(page, 'user:alice')
  await page.getByLabel('Question', { exact: true }).fill('What does Alice drink?')
  await stop()
  await startServer(t, {
    ...settings, SERVICES_PORT: new URL(url()).port, SERVICE_AUTH_MODE: 'api_key', SERVICE_API_KEY: 'the shared secret',
    SERVICE_ADMIN_TOKEN: 'for operators',
  })
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await page.getByText('The server no longer takes your credentials.').waitFor()
  await page.getByLabel('API key').fill('the shared secret')
  await page.getByLabel('Principal').fill('user:alice')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.locator('.identity', { hasText: 'user:alice' }).waitFor()
  t.equal(await page.getByLabel('Question', { exact: true }).inputValue(), 'What does Alice drink?')
  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByText('api_key: a shared key').waitFor()
  await page.getByLabel('Admin token').waitFor()
})

let model: LanguageServer

consoleTest('a page that is loaded again in the middle of an answer begins anew', {
  start: async (t: Test): Promise<StartedServer> => {
    model = await startLanguageServer(t)
    const { app } = await testApp(t, {
      file: {
        llm_provider: 'openai_compatible',
        llm_provider_config: { base_url: model.url, model: 'remote', api_key: 'key', max_retries: 0 },
        reflect: { min_score: 0 },
      },
    })
    return { url: await app.listen({ host: '127.0.0.1', port: 0 }) }
  },
}, async (t, { page, url, client }) => {
  await client().retain({ bank_id: 'user-alice', content: 'Alice lives in Lyon.' })
  const { behaviour, say } = piecemeal()
  model.next(behaviour)
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
  await answer.getByRole('button', { name: 'Source [1]' }).waitFor()
  await page.reload()
  await page.getByText('Ask something that the memories').waitFor()
  t.match(page.url(), /reflect\?bank=user-alice$/)
  await ask()
  await answer.getByText(/Tokens/).waitFor()
})

/** Neither ids, nor numbers, nor names of anything. */
const NONSENSE = ['..', '../../v1/admin/status', '<script>alert(1)</script>', '%00%2e', "';drop table", '🦀\u202e\u0000', 'a'.repeat(3000)]

consoleTest('nonsense in a field is told by what is wrong with it', {
  expectedErrors: [/status of 4\d\d/], yaml: 'access_control: {enabled: true, default_policy: open}',
}, async (t, { page, url }) => {
  await page.goto(url())
  for (const wrong of ['🦀', 'user:\u4e2d\u6587']) {
    await page.getByLabel('Principal').fill(wrong)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('It has a character that no header can carry.').waitFor()
  }
  await signInAs(page, 'user:alice')
  const failure = page.getByRole('main').getByRole('alert').first()
  for (const name of ['memories', 'recall', 'reflect', 'access', 'banks', 'admin']) {
    for (const wrong of NONSENSE) {
      await page.goto('about:blank')
      await page.goto(url(`${name}?bank=${encodeURIComponent(wrong)}&days=x&memory=${encodeURIComponent(wrong)}&why=${encodeURIComponent(wrong)}&order=x&trust=x`))
      await signInAs(page, 'user:alice')
      if (name === 'recall') {
        await page.getByLabel('Query').fill('What?')
        await page.keyboard.press('Enter')
      }
      if (name === 'reflect') {
        await page.getByLabel('Question', { exact: true }).fill('What?')
        await page.getByRole('button', { name: 'Ask', exact: true }).click()
      }
      await failure.waitFor()
      // The client sends no name that would lead elsewhere.
      const expected = wrong === '..' ? /No name of a bank or memory|invalid_request/ : /invalid_request|not_found/
      t.match(await failure.textContent(), expected, `${name}: ${wrong.slice(0, 30)}`)
    }
  }
  t.equal(await page.locator('main script').count(), 0)
})

consoleTest('a field with a fault in a part of a form that is closed is shown', {}, async (t, { page, url, client }) => {
  await client().retain({ bank_id: 'user-alice', content: 'Alice drinks tea.' })
  await page.goto(url('reflect?bank=user-alice'))
  await signInAs(page, 'user:alice')
  const more = page.locator('summary', { hasText: 'Evidence and answer' })
  await more.click()
  await page.getByLabel('Tokens of the answer at most').fill('-5')
  await more.click()
  await page.getByLabel('Question', { exact: true }).fill('What does Alice drink?')
  for (const send of ['click', 'keys']) {
    if (send === 'click') await page.getByRole('button', { name: 'Ask', exact: true }).click()
    else await page.getByLabel('Question', { exact: true }).press('Control+Enter')
    await page.getByLabel('Tokens of the answer at most').and(page.locator(':focus')).waitFor()
    t.equal(await page.getByRole('region', { name: 'Answer', exact: true }).count(), 0)
    await more.click()
  }
  await more.click()
  await page.getByLabel('Tokens of the answer at most').fill('')
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await page.getByText('All after').waitFor()
})

const DEEP = [
  ['overview', 'Overview'], ['banks?bank=user-alice&days=365', 'Banks'], ['memories?bank=user-alice&tag=a&tag=b&order=oldest', 'Memories'],
  ['recall?bank=user-alice,user-bob', 'Recall lab'], ['reflect?bank=user-alice', 'Reflect'], ['access?view=rules', 'Access'],
  ['sources', 'Sources'], ['admin?bank=user-alice', 'Admin'], ['nowhere', 'No such page'],
] as const

consoleTest('an address that was shared leads through the sign-in to what it names', {}, async (t, { page, url }) => {
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
  await page.getByText('The server names no identity provider.').waitFor()
  await hasNoViolation(t, page, 'a way back from nowhere')
})
