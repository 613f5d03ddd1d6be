import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { chooseBank, settled } from './browser.js'

export const ADMIN = 'an admin token of at least thirty-two bytes'
const STORE = process.env['TEST_STORE'] === 'postgres' ? 'postgres' : 'in_memory'

/**
 * The configuration of a server on which `principal` may do everything with the bank `team`, and nobody else anything.
 */
export function yamlFor (principal: string): string {
  return `
access_control: {enabled: true, default_policy: deny}
access_grants: [{bank_id: team, principal: '${principal}', permissions: ['*']}]
sources: {build-server: {type: webhook, target_bank: team, auth: {type: none}}}
`
}

export async function open (page: Page, title: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: title }).click()
  await page.getByRole('heading', { level: 1, name: title }).waitFor()
  await settled(page)
}

/** What each page is for, by a caller who may do everything on the bank and has the admin token. */
export async function useEverything (t: Test, page: Page, mode: string): Promise<void> {
  await open(page, 'Overview')
  const server = page.getByRole('region', { name: 'Store and models' })
  t.equal(await server.count(), 0, 'not without the admin token')
  await page.getByText('needs the admin token').waitFor()
  await page.getByLabel('Admin token').fill(ADMIN)
  await page.getByRole('button', { name: 'Use the token' }).click()
  await server.getByText(STORE, { exact: true }).waitFor()
  await server.getByText('mock: quotes memories, no model').waitFor()
  await server.getByText('mock: recall by words only, no model').waitFor()
  await page.getByText(new RegExp(`^${mode}: `)).waitFor()
  await page.getByRole('img', { name: /^Requests per second/ }).waitFor()

  await open(page, 'Memories')
  await page.getByRole('link', { name: 'Growth and numbers' }).click()
  await page.getByRole('heading', { name: 'Growth by day' }).waitFor()
  await page.getByRole('link', { name: 'All banks' }).click()
  await page.getByRole('link', { name: 'team', exact: true }).waitFor()

  await open(page, 'Memories')
  await page.getByRole('listbox', { name: 'Memories' }).getByText('The team meets on Mondays.').waitFor()
  await page.getByRole('button', { name: 'Retain…' }).click()
  const retain = page.getByRole('dialog', { name: 'Retain a memory' })
  await retain.getByLabel('Content').fill('The team drinks tea.')
  await retain.getByRole('button', { name: 'Store' }).click()
  await retain.getByText('Stored in one passage').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('listbox', { name: 'Memories' }).getByText('The team drinks tea.').click()
  await page.locator('.memories-content').getByText('The team drinks tea.').waitFor()

  await open(page, 'Conversations')
  await page.getByText('The bank has no conversations.').waitFor()

  await open(page, 'Proposals')
  await page.getByText('Proposals are off for this bank.').waitFor()

  await open(page, 'Recall lab')
  await page.getByLabel('Query').fill('Who drinks tea?')
  await page.getByRole('button', { name: 'Recall', exact: true }).click()
  await page.getByRole('list', { name: 'Hits of Setting A' }).getByText('The team drinks tea.').first().waitFor()

  await open(page, 'Ask')
  await page.getByLabel('Question', { exact: true }).fill('What does the team drink?')
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  const answer = page.getByRole('region', { name: 'Answer', exact: true })
  await answer.getByText('The team drinks tea.').waitFor()
  await answer.getByText(/Tokens/).waitFor()

  await open(page, 'Access')
  const row = page.getByRole('table', { name: 'What you may do' }).getByRole('row').filter({ hasText: 'team' })
  await row.getByText('access_grants[0]').first().waitFor()
  t.match(await row.textContent(), /(access_grants\[0\].*){4}/s)

  await open(page, 'Sources')
  await page.getByRole('table', { name: 'Webhook sources' }).getByText('build-server').first().waitFor()

  await open(page, 'Admin')
  await page.getByRole('main').getByText('team', { exact: true }).first().waitFor()
}

/** What each page says to a caller who may do nothing. */
export async function beRefused (page: Page, principal: string): Promise<void> {
  const denied = page.getByRole('main').getByText(`Principal '${principal}' is denied 'read' on bank 'team'`).first()
  await open(page, 'Overview')
  await page.getByText('You may read 0 banks').waitFor()
  await page.getByText('needs the admin token').waitFor()

  await page.getByRole('link', { name: '0 banks' }).click()
  await page.getByText('There is no bank that you may read yet.').waitFor()

  await open(page, 'Memories')
  await chooseBank(page, 'team')
  await denied.waitFor()
  for (const permission of ['write', 'forget', 'admin']) {
    await page.getByText(`You need ${permission} on this bank to`).waitFor()
  }

  for (const title of ['Conversations', 'Proposals']) {
    await open(page, title)
    await denied.waitFor()
  }

  await open(page, 'Recall lab')
  await page.getByText('You need read on this bank to search it.').waitFor()

  await open(page, 'Ask')
  await page.getByText('You need read on this bank to ask it.').waitFor()

  await open(page, 'Access')
  await page.getByText('may do nothing on').waitFor()

  for (const title of ['Sources', 'Admin']) {
    await open(page, title)
    await page.getByText('needs the admin token').waitFor()
  }
}
