import type { LightMyRequestResponse } from 'fastify'
import type { BankConfigAnswer, BankConfigHistoryAnswer } from '../../lib/operations/schemas.js'
import type { TestApp } from '../helpers/app.js'

type Method = 'GET' | 'PUT' | 'PATCH' | 'DELETE'

const url = (bankId: string) => `/v1/banks/${encodeURIComponent(bankId)}/config`

/** A request on the configuration of a bank. A string is taken as the body itself. */
export async function askConfig (
  { inject }: TestApp, method: Method, bankId: string, body?: unknown, headers: Record<string, string> = {},
): Promise<LightMyRequestResponse> {
  if (body === undefined) return await inject({ method, url: url(bankId), headers })
  const payload = typeof body === 'string' ? body : JSON.stringify(body)
  return await inject({
    method, url: url(bankId), headers: { 'content-type': 'application/json', ...headers }, payload,
  })
}

export function configAnswer (response: LightMyRequestResponse): BankConfigAnswer {
  if (response.statusCode !== 200) {
    throw new Error(`the configuration answered ${response.statusCode}: ${response.body}`)
  }
  return response.json<BankConfigAnswer>()
}

/** The configuration of a bank; the request has to succeed, as those below. */
export async function getConfig (
  app: TestApp, bankId: string, headers?: Record<string, string>,
): Promise<BankConfigAnswer> {
  return configAnswer(await askConfig(app, 'GET', bankId, undefined, headers))
}

export async function putConfig (
  app: TestApp, bankId: string, config: unknown, headers?: Record<string, string>,
): Promise<BankConfigAnswer> {
  return configAnswer(await askConfig(app, 'PUT', bankId, config, headers))
}

export async function patchConfig (
  app: TestApp, bankId: string, patch: unknown, headers?: Record<string, string>,
): Promise<BankConfigAnswer> {
  return configAnswer(await askConfig(app, 'PATCH', bankId, patch, headers))
}

export async function resetConfig (
  app: TestApp, bankId: string, headers?: Record<string, string>,
): Promise<BankConfigAnswer> {
  return configAnswer(await askConfig(app, 'DELETE', bankId, undefined, headers))
}

/** All pages. */
export async function historyOf ({ get }: TestApp, bankId: string, headers?: Record<string, string>): Promise<
  BankConfigHistoryAnswer['history']
> {
  const changes: BankConfigHistoryAnswer['history'] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const response = await get(`${url(bankId)}/history${cursor === '' ? '' : `?cursor=${cursor}`}`, headers)
    if (response.statusCode !== 200) throw new Error(`the history answered ${response.statusCode}: ${response.body}`)
    const page = response.json<BankConfigHistoryAnswer>()
    changes.push(...page.history)
    cursor = page.next_cursor
  }
  return changes
}
