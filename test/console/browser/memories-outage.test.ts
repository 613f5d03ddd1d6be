import { startServer } from '../../helpers/server.js'
import { consoleTest, signInAs, startConsoleServer } from '../browser.js'

const GONE = [/ERR_CONNECTION_REFUSED/, /ERR_CONNECTION_RESET/, /ERR_EMPTY_RESPONSE/, /ERR_SOCKET_NOT_CONNECTED/]
/** More than a page of the listing, so that the end of the list is loaded later. */
const COUNT = 300

let stop: () => Promise<void>

consoleTest('a list continues when the server is back, and shows which memories no longer exist', {
  expectedErrors: GONE,
  start: async (t) => {
    const server = await startConsoleServer(t, {})
    stop = async () => {
      server.process.kill('SIGKILL')
      await server.ended
    }
    return server
  },
}, async (t, { page, url, client }) => {
  const items = Array.from({ length: COUNT }, (_, index) => ({ content: `Memory number ${index}.` }))
  await client().retainBatch({ bank_id: 'user-alice', items })
  await page.goto(url('memories?bank=user-alice'))
  await signInAs(page, 'user:alice')
  const list = page.getByRole('listbox', { name: 'Memories' })
  await list.getByText(/^Memory number/).first().waitFor()
  await stop()
  await list.focus()
  await page.keyboard.press('End')
  await page.getByRole('alert').getByText('The connection failed').first().waitFor()
  // With the store in memory the restarted server has no memories.
  await startServer(t, { SERVICES_PORT: new URL(url()).port })
  await list.getByText('No longer there').first().waitFor()
  t.equal(await page.locator('main .failure').count(), 0)
  await page.getByRole('button', { name: 'Reload', exact: true }).click()
  await page.getByText('This bank is empty, or does not exist yet.').waitFor()
})
