import type { Page } from 'playwright-core'
import type { ClientOptions } from '../../../packages/client/src/index.js'
import { hs256 } from '../../helpers/tokens.js'
import { consoleTest } from '../browser.js'
import { ADMIN, beRefused, useEverything, yamlFor } from '../every-page.js'

const SECRET = 'a secret of at least thirty-two bytes'
const LIFETIME_SECONDS = 3600

interface Mode {
  env: Record<string, string>
  credentials: (principal: string) => Partial<ClientOptions>
  fill: (page: Page, principal: string) => Promise<void>
}

const tokenOf = (sub: string) => hs256({ sub, exp: Math.floor(Date.now() / 1000) + LIFETIME_SECONDS }, SECRET)

const MODES: Readonly<Record<string, Mode>> = {
  dev: {
    env: {},
    credentials: (principal) => ({ principal }),
    fill: async (page, principal) => { await page.getByLabel('Principal').fill(principal) },
  },
  api_key: {
    env: { SERVICE_AUTH_MODE: 'api_key', SERVICE_API_KEY: SECRET },
    credentials: (principal) => ({ principal, apiKey: SECRET }),
    fill: async (page, principal) => {
      await page.getByLabel('API key').fill(SECRET)
      await page.getByLabel('Principal').fill(principal)
    },
  },
  jwt_hs256: {
    env: { SERVICE_AUTH_MODE: 'jwt_hs256', SERVICE_JWT_SECRET: SECRET },
    credentials: (principal) => ({ token: tokenOf(principal) }),
    fill: async (page, principal) => { await page.getByLabel('Token', { exact: true }).fill(tokenOf(principal)) },
  },
}

for (const [name, { env, credentials, fill }] of Object.entries(MODES)) {
  consoleTest(`in ${name} mode each page serves a caller with permissions, and refuses one without`, {
    yaml: yamlFor('user:alice'), env: { ...env, SERVICE_ADMIN_TOKEN: ADMIN }, expectedErrors: [/status of 403/],
  }, async (t, { page, url, client }) => {
    const signIn = async (principal: string) => {
      await fill(page, principal)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.locator('.identity', { hasText: principal }).waitFor()
    }
    await client(credentials('user:alice')).retain({ bank_id: 'team', content: 'The team meets on Mondays.' })
    await page.goto(url())
    await signIn('user:alice')
    await useEverything(t, page, name)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.goto(url())
    await signIn('user:bob')
    await beRefused(page, 'user:bob')
  })
}
