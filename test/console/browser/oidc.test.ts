import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { testApp } from '../../helpers/app.js'
import { testClock, type TestClock } from '../../helpers/clock.js'
import { consoleTest, hasNoViolation, startConsoleServer, type StartedServer } from '../browser.js'
import { ADMIN, beRefused, useEverything, yamlFor } from '../every-page.js'
import { LIFETIME_SECONDS, startOidcProvider, type OidcProvider } from '../oidc-provider.js'

let provider: OidcProvider
let clock: TestClock

const oidc = {
  start: async (t: Test): Promise<StartedServer> => {
    provider = await startOidcProvider(t)
    const env = { ...provider.env, SERVICE_ADMIN_TOKEN: ADMIN }
    const { url } = await startConsoleServer(t, { env, yaml: `${provider.yaml}\n${yamlFor('user:alice')}` })
    return { url, origins: [provider.origin] }
  },
}

/** A gateway and a provider whose time the test moves. */
const withClock = {
  expectedErrors: [/status of 401/],
  start: async (t: Test): Promise<StartedServer> => {
    provider = await startOidcProvider(t, () => clock())
    clock = testClock()
    const { origin } = provider
    const served = await testApp(t, {
      auth: { mode: 'jwt_oidc', oidcIssuer: origin, oidcAudience: 'memory', oidcJwksUrl: `${origin}/keys` },
      file: { console: { oidc: { client_id: 'memory-console' } } },
    }, { clock: () => clock() })
    return { url: await served.app.listen({ host: '127.0.0.1', port: 0 }), origins: [origin] }
  },
}

/** The message of the server about an expired token. */
const EXPIRED = 'The server no longer accepts your credentials.'

function expire (): void {
  clock.advance((LIFETIME_SECONDS + 120) * 1000)
}

async function storageOf (page: Page): Promise<string> {
  return await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }))
}

async function signInAtProvider (page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Sign in at 127\.0\.0\.1/ }).click()
}

consoleTest('the identity provider signs in with a code and PKCE', oidc, async (t, { page, url }) => {
  await page.goto(url('banks?bank=team'))
  await signInAtProvider(page)
  await page.getByRole('heading', { level: 1, name: 'Banks' }).waitFor()
  await page.locator('.identity', { hasText: 'user:alice · acme' }).waitFor()
  t.match(page.url(), /\/console\/banks\?bank=team$/, 'neither the code nor the state stays in the URL')
  const asked = Object.fromEntries(provider.asked() ?? [])
  t.match(asked, {
    response_type: 'code',
    client_id: 'memory-console',
    scope: 'openid',
    code_challenge_method: 'S256',
    audience: 'memory',
  })
  t.equal(asked['redirect_uri'], url('callback'))
  t.notMatch(await storageOf(page), /verifier|ey[A-Za-z0-9]/)
  await page.goBack()
  t.notMatch(page.url(), /code=/, 'it is not in the history either')
})

consoleTest('a response that does not belong to the sign-in is refused', oidc, async (t, { page, url }) => {
  await page.goto(url('callback?code=stolen&state=of-another'))
  await page.getByText('No sign-in was started in this tab').waitFor()
  t.notMatch(page.url(), /stolen/)

  await page.goto(url('banks?bank=team'))
  provider.forgeNonce('of-another')
  await signInAtProvider(page)
  await page.getByText('The token of the identity provider does not belong to the sign-in').waitFor()

  await page.getByRole('button', { name: 'Try again' }).click()
  t.match(page.url(), /\/console\/banks\?bank=team$/, 'the same page as before')
  provider.refuse('access_denied')
  await signInAtProvider(page)
  await page.getByText('The identity provider says: The reader is not known.').waitFor()

  await page.evaluate(() => {
    sessionStorage.setItem('memory-gateway-console-oidc', JSON.stringify({ state: 'begun-here', tokenEndpoint: '' }))
  })
  await page.goto(url('callback?code=stolen&state=of-another'))
  await page.getByText('does not belong to the sign-in that was started here').waitFor()
  t.equal(await page.evaluate(() => sessionStorage.length), 0, 'a sign-in is tried once')
})

consoleTest('each page serves a user of the identity provider, or refuses one without permissions', {
  ...oidc, expectedErrors: [/status of 403/],
}, async (t, { page, url, client }) => {
  await client({ token: provider.tokenFor('alice') }).retain({ bank_id: 'team', content: 'The team meets on Mondays.' })
  await page.goto(url())
  await signInAtProvider(page)
  await page.locator('.identity', { hasText: 'user:alice · acme' }).waitFor()
  await useEverything(t, page, 'jwt_oidc')

  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
  t.equal(await page.getByRole('navigation', { name: 'Pages' }).count(), 0)
  t.equal(await page.getByText('The team').count(), 0, 'nothing of the page remains')
  await page.goBack()
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
  provider.takeFor('bob')
  await page.goto(url())
  await signInAtProvider(page)
  await page.locator('.identity', { hasText: 'user:bob · acme' }).waitFor()
  await beRefused(page, 'user:bob')
})

consoleTest('a sign-in in a second window loses no work when a token expires', withClock, async (t, { page, url }) => {
  await page.goto(url('memories?bank=user-alice'))
  await signInAtProvider(page)
  await page.getByText('This bank is empty, or does not exist yet.').waitFor()
  await page.getByRole('button', { name: 'Retain…' }).click()
  const retain = page.getByRole('dialog', { name: 'Retain a memory' })
  await retain.getByLabel('Content').fill('Alice drinks tea.')
  await retain.getByLabel('Document').fill('day-1')
  expire()
  await retain.getByRole('button', { name: 'Store' }).click()
  await page.getByText(EXPIRED).waitFor()
  await hasNoViolation(t, page, 'the sign-in in a window beside')

  const signIn = async () => {
    // The window may be closed before the page has the answer to the click.
    const closed = page.waitForEvent('popup').then(async (popup) => {
      if (!popup.isClosed()) await popup.waitForEvent('close')
    })
    await signInAtProvider(page)
    await closed
  }
  provider.refuse('access_denied')
  await signIn()
  await page.getByText('The identity provider says: The reader is not known.').waitFor()
  await signIn()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  t.match(page.url(), /\/console\/memories\?bank=user-alice$/)
  t.equal(await retain.getByLabel('Document').inputValue(), 'day-1')
  await retain.getByRole('button', { name: 'Store' }).click()
  await retain.getByText('Stored in one passage').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('listbox', { name: 'Memories' }).getByText('Alice drinks tea.').waitFor()

  await page.getByRole('button', { name: 'Retain…' }).click()
  await retain.getByLabel('Content').fill('Alice drinks coffee.')
  expire()
  await retain.getByRole('button', { name: 'Store' }).click()
  await page.getByText(EXPIRED).waitFor()
  provider.takeFor('bob')
  await signIn()
  await page.locator('.identity', { hasText: 'user:bob' }).waitFor()
  t.equal(await page.getByText('Alice drinks coffee.').count(), 0, 'another user starts again')
  t.equal(await retain.count(), 0)
  t.notMatch(await storageOf(page), /ey[A-Za-z0-9]|verifier/)
})

consoleTest('without a second window the sign-in continues in the tab itself', withClock, async (t, { page, url }) => {
  await page.goto(url('banks?bank=user-alice'))
  await page.getByLabel('Stay signed in').first().check()
  await signInAtProvider(page)
  await page.getByText('The bank is empty').waitFor()
  expire()
  await page.getByRole('button', { name: 'Reload', exact: true }).click()
  await page.getByText(EXPIRED).waitFor()
  await page.evaluate('window.reallyOpen = window.open; window.open = () => null')
  await signInAtProvider(page)
  await page.getByText('The browser has blocked the window for the sign-in').waitFor()

  await page.evaluate('window.open = window.reallyOpen')
  await page.context().route(
    `${provider.origin}/authorize**`, async (route) => { await route.fulfill({ body: 'Who are you?' }) },
  )
  const opened = page.waitForEvent('popup')
  await signInAtProvider(page)
  const window = await opened
  await window.getByText('Who are you?').waitFor()
  await window.close()
  await page.getByRole('button', { name: 'Open the window again' }).waitFor()
  await page.context().unroute(`${provider.origin}/authorize**`)
  await page.getByRole('button', { name: /^Sign in in this tab/ }).click()
  await page.getByText('The bank is empty').waitFor()
  t.match(page.url(), /\/console\/banks\?bank=user-alice$/)
  await page.reload()
  await page.getByText('The bank is empty').waitFor()
})

consoleTest('a token that the server does not accept is reported at the sign-in', {
  ...withClock, expectedErrors: [/status of 401/],
}, async (t, { page, url }) => {
  await page.goto(url('banks'))
  // The clock of the provider is wrong: its tokens have expired when they arrive.
  provider.makeTokensOld()
  await signInAtProvider(page)
  await page.getByRole('alert').getByText('unauthenticated', { exact: true }).waitFor()
  t.equal(await page.getByRole('navigation', { name: 'Pages' }).count(), 0)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.waitForURL(/\/console\/banks$/)
})
