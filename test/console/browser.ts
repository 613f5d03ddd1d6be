import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Browser, type Locator, type Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { buildApp } from '../../app.js'
import { loadConfig } from '../../lib/config/load.js'
import { MemoryGatewayClient, type ClientOptions } from '../../packages/client/src/index.js'
import { freshDatabase } from '../helpers/sql-stores.js'
import { startServer, type RunningServer } from '../helpers/server.js'

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
/** With TEST_STORE=postgres the servers keep memories in the database of TEST_DATABASE_URL. */
const POSTGRES = 'vector_store: postgres\nvector_store_config: {bootstrap_schema: true}'
const WIDTH = 1280
const HEIGHT = 900
/** Much longer than any step takes: it ends a test that hangs, and does not measure speed. */
const PATIENCE_MS = 30_000

export interface ConsoleOptions {
  /** Environment of the server. Default: dev mode, in memory. */
  env?: Record<string, string>
  /** The configuration file, as YAML. */
  yaml?: string
  /** Errors on the browser's console that the test provokes, such as the line that every status from 400 up makes. */
  expectedErrors?: readonly RegExp[]
  /** The answer when the browser asks before it leaves the page. Default: it may not ask. */
  onBeforeUnload?: 'stay' | 'leave'
  colorScheme?: 'light' | 'dark'
  viewport?: { width: number, height: number }
  /** Starts the server, in the place of one in the process of the test that `env` and `yaml` describe. */
  start?: (t: Test) => Promise<StartedServer>
}

export interface StartedServer {
  url: string
  /** Origins beside the server's own that the page may ask. */
  origins?: readonly string[]
}

export interface OpenedConsole {
  page: Page
  /** `/console/…` on the server. */
  url: (path?: string) => string
  /** A client of the server, to put memories in. */
  client: (options?: Partial<ClientOptions>) => MemoryGatewayClient
}

/** Chromium of the machine; undefined: there is none. */
function findChromium (): string | undefined {
  for (const name of [process.env['CHROMIUM'], 'chromium', 'chromium-browser', 'google-chrome']) {
    if (name === undefined) continue
    try {
      return execFileSync('which', [name], { encoding: 'utf8' }).trim()
    } catch {
      // The next one.
    }
  }
  return undefined
}

const executablePath = findChromium()
/** One browser for the tests of a file. */
let browser: Promise<Browser> | undefined

const isSkipped = executablePath === undefined && process.env['TEST_BROWSER'] !== 'required'

t.teardown(async () => { await (await browser)?.close() })

/**
 * A test with a page of the console, on a server of its own unless the options say another. It fails when anything is
 * written to the browser's console as an error, when a dialog opens, or when a request leaves the server's origin. It
 * is skipped where there is no Chromium, unless TEST_BROWSER is `required`.
 */
export function consoleTest (
  name: string, options: ConsoleOptions, run: (t: Test, opened: OpenedConsole) => Promise<void>,
): void {
  const more = isSkipped ? { skip: 'there is no Chromium: apt-get install chromium' } : {}
  t.test(name, more, async (t) => {
    const { faults, ...opened } = await openConsole(t, options)
    try {
      await run(t, opened)
    } finally {
      t.same(faults, [], 'no error, no dialog, no request to another origin')
    }
  })
}

/** What a server needs for the store of this run: its environment, and a part of the configuration file. */
export async function storeSettings (t: Test): Promise<{ env: Record<string, string>, yaml?: string }> {
  if (process.env['TEST_STORE'] !== 'postgres') return { env: {} }
  return { env: { DATABASE_URL: await freshDatabase(t) }, yaml: POSTGRES }
}

/** The environment of a server with these options, the store of this run, and no embedding model unless named. */
async function settingsOf (
  t: Test, { env = {}, yaml }: Pick<ConsoleOptions, 'env' | 'yaml'>,
): Promise<Record<string, string>> {
  const store = await storeSettings(t)
  const settings: Record<string, string> = { ...env, ...store.env }
  const embeddings = yaml?.includes('embedding_provider:') === true ? undefined : 'embedding_provider: mock'
  const file = [yaml, embeddings, store.yaml].filter((part) => part !== undefined).join('\n')
  const folder = mkdtempSync(join(tmpdir(), 'console-'))
  t.teardown(() => { rmSync(folder, { recursive: true }) })
  settings['SERVICES_CONFIG_PATH'] = join(folder, 'config.yaml')
  writeFileSync(settings['SERVICES_CONFIG_PATH'], file)
  return settings
}

/** A server in a process of its own, which a test can kill and start again with the same settings. */
export async function startConsoleServer (
  t: Test, options: Pick<ConsoleOptions, 'env' | 'yaml'>,
): Promise<RunningServer & { settings: Record<string, string> }> {
  const settings = await settingsOf(t, options)
  return { ...await startServer(t, settings), settings }
}

/** A server in the process of the test, because starting a process takes longer than most of these tests. */
async function serveHere (t: Test, options: Pick<ConsoleOptions, 'env' | 'yaml'>): Promise<StartedServer> {
  const settings = await settingsOf(t, options)
  const load = () => loadConfig({ SERVICES_LOG_LEVEL: 'silent', ...settings })
  const app = await buildApp(load(), { reloadConfig: load })
  t.teardown(async () => { await app.close() })
  return { url: await app.listen({ host: '127.0.0.1', port: 0 }) }
}

async function openConsole (t: Test, options: ConsoleOptions): Promise<OpenedConsole & { faults: string[] }> {
  if (executablePath === undefined) throw new Error('There is no Chromium: apt-get install chromium')
  const server: StartedServer = await (options.start?.(t) ?? serveHere(t, options))
  browser ??= chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
  const context = await (await browser).newContext({
    colorScheme: options.colorScheme ?? 'light',
    viewport: options.viewport ?? { width: WIDTH, height: HEIGHT },
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
  })
  context.setDefaultTimeout(PATIENCE_MS)
  const faults: string[] = []
  const origins = [new URL(server.url).origin, ...server.origins ?? []]
  // Windows that the page opens, and other tabs, are held to the same.
  context.on('page', (opened) => { watch(opened, faults, origins, options) })
  const page = await context.newPage()
  t.teardown(async () => { await context.close() })
  return {
    page,
    faults,
    url: (path = '') => `${server.url}/console/${path}`,
    client: (more = {}) => new MemoryGatewayClient({ baseUrl: server.url, ...more }),
  }
}

function watch (
  page: Page, faults: string[], origins: readonly string[],
  { expectedErrors = [], onBeforeUnload }: ConsoleOptions,
): void {
  page.on('console', (message) => {
    const text = message.text()
    if (message.type() !== 'error' || expectedErrors.some((expected) => expected.test(text))) return
    faults.push(`console: ${text} (${message.location().url})`)
  })
  page.on('pageerror', (error) => { faults.push(`uncaught: ${error.message}`) })
  page.on('dialog', (dialog) => {
    const answer = dialog.type() === 'beforeunload' ? onBeforeUnload : undefined
    if (answer === undefined) faults.push(`dialog: ${dialog.message()}`)
    void (answer === 'leave' ? dialog.accept() : dialog.dismiss())
  })
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.protocol !== 'blob:' && !origins.includes(url.origin)) faults.push(`request: ${url.href}`)
  })
}

/** Signs in to a server in dev mode and waits for the page of the URL. */
export async function signInAs (page: Page, principal: string): Promise<void> {
  await page.getByLabel('Principal').fill(principal)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
}

/** Chooses the current bank in the frame. */
export async function chooseBank (page: Page, bank: string): Promise<void> {
  await page.getByRole('button', { name: /^Bank / }).click()
  const dialog = page.getByRole('dialog', { name: 'Choose a bank' })
  await dialog.getByLabel('Bank id').fill(bank)
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'hidden' })
}

/** The name of the current bank in the frame. */
export function currentBank (page: Page): Locator {
  return page.locator('.bank-button-name')
}

/** Waits until the page has no request in progress. */
export async function settled (page: Page): Promise<void> {
  await page.locator('body:not(:has(.spinner))').waitFor()
}

interface AxeResult {
  violations: Array<{ id: string, help: string, nodes: Array<{ html: string, failureSummary?: string }> }>
}
interface Axe { run: (options: object) => Promise<AxeResult> }

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/**
 * What axe-core finds wrong with the page as it stands. It comes in over the debugger, so the policy stays in force.
 */
export async function axeViolations (page: Page): Promise<string[]> {
  await page.evaluate(readFileSync(AXE, 'utf8'))
  const { violations } = await page.evaluate<AxeResult, string[]>(async (tags) => (
    await (globalThis as unknown as { axe: Axe }).axe.run({ runOnly: tags })
  ), RULES)
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ html, failureSummary = '' }) => (
    `${id}: ${help}: ${html}: ${failureSummary}`
  )))
}

/** Checks the page in both themes. */
export async function hasNoViolation (t: Test, page: Page, what: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    t.same(await axeViolations(page), [], `${what}, ${colorScheme}`)
  }
}

/** Whether there are as many as expected, of which there is at least one. The page may still be rendering them. */
export async function hasCount (t: Test, found: Locator, expected: number, what = 'as many'): Promise<void> {
  await found.nth(expected - 1).waitFor({ state: 'attached' })
  t.equal(await found.count(), expected, what)
}
