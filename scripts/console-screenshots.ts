// Takes a screenshot of each page of the console, in light and dark colours, for docs/console/. `npm run
// docs:screenshots` runs it. It starts a gateway with sample data and needs Chromium, whose path is in CHROMIUM.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium, type Page } from 'playwright-core'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const TARGET = join(ROOT, 'docs/console')
const BANK = 'user-alice'
const PRINCIPAL = 'user:alice'
const SIZE = { width: 1280, height: 860 }
const QUALITY = 72

interface Screenshot {
  /** The name of the file. */
  name: string
  /** The path below /console/. */
  path: string
  /** Actions on the page before the screenshot. */
  act?: (page: Page) => Promise<void>
}

/** In the order of docs/console.md. */
const SCREENSHOTS: readonly Screenshot[] = [
  { name: 'memories', path: `memories?bank=${BANK}` },
  { name: 'conversations', path: `conversations?bank=${BANK}&conversation=trip-to-lyon` },
  { name: 'proposals', path: `proposals?bank=${BANK}` },
  { name: 'reflect', path: `reflect?bank=${BANK}`, act: askReflect },
  { name: 'recall', path: `recall?bank=${BANK}`, act: tryRecall },
  {
    name: 'access',
    path: `access?bank=${BANK}&principal=user:alice&principal=agent:planner&view=anyone`,
    act: tryAccess,
  },
  { name: 'overview', path: 'overview' },
  { name: 'banks', path: `banks?bank=${BANK}` },
  { name: 'sources', path: 'sources' },
  { name: 'admin', path: 'admin' },
]

const SOURCE = 'build-server'
/** Without access control and sources, two pages would have nothing to show. */
const CONFIGURATION = `
access_control: {enabled: true, default_policy: owner_only}
signal_quality: {proposals: {mode: propose}}
access_grants:
  - {bank_id: 'team*', principal: 'user:*', permissions: [read, write]}
  - {bank_id: team, principal: 'agent:*', permissions: [read]}
  - {bank_id: team, principal: 'service:build-server', permissions: [write]}
sources:
  ${SOURCE}: {type: webhook, target_bank: team, auth: {type: none}}
  shop: {type: webhook, target_bank: shop-events, auth: {type: hmac, secret: screenshot-secret}}
`

/** In the order in which they are said, so that the list is in the order of its times. */
const MEMORIES: ReadonlyArray<[speaker: string, day: string, content: string, tags: string[]]> = [
  ['Alice', '2026-01-12', 'I live in Lisbon, close to the river.', ['place']],
  ['Alice', '2026-01-12', 'I drink green tea in the morning.', ['habit', 'drink']],
  ['Clara', '2026-01-30', 'I visit my sister Alice every second summer.', ['family']],
  ['Alice', '2026-02-03', 'I am allergic to peanuts.', ['health', 'food']],
  ['Ben', '2026-02-16', 'The release of the gateway is planned for the first week of December.', ['work']],
  ['Alice', '2026-02-17', 'I prefer meetings after ten o\'clock.', ['work', 'habit']],
  ['Alice', '2026-04-02', 'I moved to Berlin last month.', ['place']],
  ['Ben', '2026-04-20', 'The budget of the workshop is 4,000 euros.', ['work']],
  ['Alice', '2026-05-07', 'I learn the cello and play on Thursdays.', ['habit', 'music']],
  ['Alice', '2026-05-19', 'On flights I take an aisle seat.', ['travel']],
  ['Clara', '2026-06-01', 'I read novels by Clarice Lispector.', ['books']],
]

const TURNS = [
  'Which train do I take from Berlin to Lyon? I would like to arrive before the evening.',
  'There is one at 06:30 with a change in Frankfurt. It arrives at 17:36.',
  'Good. An aisle seat, please, and a restaurant near the station.',
  'Seat 61 is reserved. The restaurant knows that you are allergic to peanuts.',
]
/** Each later statement may supersede an earlier memory. */
const CHANGED: ReadonlyArray<[speaker: string, day: string, content: string]> = [
  ['Ben', '2026-06-08', 'The budget of the workshop is 5,500 euros now.'],
  ['Alice', '2026-06-10', 'I live in Berlin, close to the park.'],
]

async function tryRecall (page: Page): Promise<void> {
  await page.getByLabel('Query').fill('What does Alice drink in the morning?')
  await page.keyboard.press('Enter')
  await page.getByRole('list', { name: 'Hits of Setting A' }).locator(':scope > li').first().waitFor()
}

async function askReflect (page: Page): Promise<void> {
  await page.getByLabel('Question', { exact: true }).fill('Where does Alice live?')
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await page.getByText('Tokens', { exact: true }).waitFor()
  await page.locator('.reflect-answer .reflect-citation').first().focus()
}

async function tryAccess (page: Page): Promise<void> {
  const box = page.getByRole('region', { name: 'Check a permission', exact: true })
  await box.getByLabel('Principal').fill('agent:planner')
  await box.getByLabel('Bank').fill('team')
  await box.getByLabel('Permission').selectOption('write')
  await box.getByRole('button', { name: 'Check' }).click()
  await box.getByText('Denied', { exact: true }).waitFor()
}

async function startGateway (folder: string): Promise<{ url: string, process: ChildProcess }> {
  const file = join(folder, 'configuration.yaml')
  writeFileSync(file, CONFIGURATION)
  const env = {
    PATH: process.env['PATH'] ?? '', SERVICES_PORT: '0', NODE_ENV: 'production', SERVICES_CONFIG_PATH: file,
  }
  const child = spawn(process.execPath, [join(ROOT, 'dist/server.js')], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const url = await new Promise<string>((resolve, reject) => {
    let output = ''
    // The output is read to its end, because a full pipe would block the gateway.
    child.stdout.on('data', (data: Buffer) => {
      output += data.toString()
      const found = /Server listening at (http:\/\/[^"\s]+)/.exec(output)?.[1]
      if (found !== undefined) resolve(found)
    })
    child.on('close', () => { reject(new Error(`The gateway did not start: ${output}`)) })
  })
  return { url, process: child }
}

async function post (url: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json', 'x-service-principal': PRINCIPAL }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${url} answers ${response.status}: ${await response.text()}`)
}

/** Stores memories, and makes requests for the overview to show. */
async function fill (url: string): Promise<void> {
  const items = MEMORIES.map(([speaker, day, content, tags]) => (
    { speaker, content, tags, document_id: tags[0], occurred_at: `${day}T09:00:00Z` }
  ))
  await post(`${url}/v1/retain/batch`, { bank_id: BANK, items })
  for (const [speaker, day, content] of CHANGED) {
    await post(`${url}/v1/retain`, { bank_id: BANK, speaker, content, occurred_at: `${day}T09:00:00Z` })
  }
  await post(`${url}/v1/banks/${BANK}/conversations/trip-to-lyon/messages`, {
    messages: TURNS.map((content, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant', content, created_at: `2026-06-12T18:0${index}:00Z`,
    })),
  })
  await post(`${url}/v1/retain`, { bank_id: 'team', content: 'The team meets on Mondays.', tags: ['work'] })
  await post(`${url}/v1/ingest/webhook/${SOURCE}`, { text: 'The build of the release branch is green.' })
  for (const [, , content] of MEMORIES) await post(`${url}/v1/recall`, { bank_id: BANK, query: content })
}

async function take (page: Page, { name, path, act }: Screenshot, url: string): Promise<void> {
  await page.goto(`${url}/console/${path}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.locator('body:not(:has(.spinner))').waitFor()
  await act?.(page)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.screenshot({ path: join(TARGET, `${name}-${colorScheme}.jpg`), type: 'jpeg', quality: QUALITY })
  }
}

async function main (): Promise<void> {
  mkdirSync(TARGET, { recursive: true })
  const folder = mkdtempSync(join(tmpdir(), 'console-'))
  const gateway = await startGateway(folder)
  const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  try {
    await fill(gateway.url)
    const context = await browser.newContext({
      viewport: SIZE, locale: 'en-GB', timezoneId: 'Europe/Berlin', reducedMotion: 'reduce',
    })
    const page = await context.newPage()
    await page.goto(`${gateway.url}/console/`)
    await page.getByLabel('Principal').fill(PRINCIPAL)
    await page.getByLabel('Stay signed in').check()
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    for (const screenshot of SCREENSHOTS) await take(page, screenshot, gateway.url)
  } finally {
    await browser.close()
    gateway.process.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  }
}

await main()
