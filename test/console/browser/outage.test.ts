import { startServer } from '../../helpers/server.js'
import { consoleTest, signInAs } from '../browser.js'
import { GONE, KillableServer } from '../servers.js'

const killable = new KillableServer()

consoleTest('a server that stops is noticed, and the page continues when it is back', {
  expectedErrors: GONE,
  start: killable.start,
}, async (t, { page, url, client }) => {
  await client().retain({ bank_id: 'user-alice', content: 'Alice drinks tea.' })
  await page.goto(url('banks?bank=user-alice'))
  await signInAs(page, 'user:alice')
  await page.getByRole('heading', { name: 'Counts' }).waitFor()
  await killable.kill()
  await page.getByRole('button', { name: 'Reload', exact: true }).click()
  const banner = page.getByText('The server does not answer.')
  await banner.waitFor()
  await page.getByText('The connection failed').first().waitFor()
  t.ok(await page.getByRole('heading', { name: 'Counts' }).isVisible(), 'loaded content stays')
  // A page that was never open cannot be loaded either, and says so in its place.
  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await page.locator('main').getByRole('alert').first().waitFor()

  await startServer(t, { ...killable.settings, SERVICES_PORT: new URL(url()).port })
  await banner.waitFor({ state: 'detached' })
  await page.getByText('answers within').first().waitFor()
  // Its styles are loaded, too.
  await page.waitForFunction(() => (
    [...document.querySelectorAll('link[rel=stylesheet]')].every(({ sheet }) => sheet !== null)
  ))
  await page.goBack()
  const isDurable = process.env['TEST_STORE'] === 'postgres'
  await page.getByText(isDurable ? 'Growth by day' : 'The bank is empty').waitFor()
})

consoleTest('an outage is noticed by opening a page, which is shown when the server is back', {
  expectedErrors: GONE,
  start: killable.start,
}, async (t, { page, url }) => {
  // This page requests nothing while it is open.
  await page.goto(url('reflect?bank=user-alice'))
  await signInAs(page, 'user:alice')
  await page.getByText('This bank is empty').waitFor()
  await killable.kill()
  await page.getByRole('link', { name: 'Recall lab' }).click()
  await page.getByText('The page could not be loaded').waitFor()
  const banner = page.getByText('The server does not answer.')
  await banner.waitFor()

  await startServer(t, { ...killable.settings, SERVICES_PORT: new URL(url()).port })
  await banner.waitFor({ state: 'detached' })
  await page.getByText('This bank is empty').waitFor()
})
