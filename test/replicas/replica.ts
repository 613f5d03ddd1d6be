import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { MOCK_EMBEDDINGS } from '../helpers/config.js'
import { startServer } from '../helpers/server.js'
import { DATABASE_URL } from '../helpers/sql-stores.js'
import { FILES, ROOT } from './changes.js'
import type { BankFile, Document, Permission, Sections } from './oracle.js'

const KEY = 'test-key'

export interface Answer {
  status: number
  body: Record<string, unknown>
}

export interface ConfigBody {
  config: Document
  effective: Document
  origin: Record<string, string>
  etag: string
  updated_by: string | null
}

/** A gateway process, as a client uses it. */
export class Replica {
  readonly name: string
  readonly #url: string
  readonly #path: string
  /** The configuration file that is in force in this process. */
  file: BankFile

  constructor (name: string, url: string, path: string, file: BankFile) {
    this.name = name
    this.#url = url
    this.#path = path
    this.file = file
  }

  static write (path: string, { global, ...file }: BankFile, schema: string): void {
    writeFileSync(path, JSON.stringify({
      ...MOCK_EMBEDDINGS, vector_store: 'postgres', vector_store_config: { schema, pool_size: 4 }, ...file, ...global,
    }))
  }

  async call (
    method: string, path: string, principal: string, body?: Sections, headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        'x-api-key': KEY,
        'x-admin-token': KEY,
        'x-service-principal': principal,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: await response.json() as Record<string, unknown> }
  }

  async config (bank: string): Promise<ConfigBody> {
    return (await this.call('GET', `/v1/banks/${bank}/config`, ROOT)).body as unknown as ConfigBody
  }

  /** All changes of a bank, newest first. */
  async history (bank: string): Promise<Array<{ etag: string, config: Document | null }>> {
    const changes: Array<{ etag: string, config: Document | null }> = []
    for (let query = '?limit=10'; ;) {
      const { body } = await this.call('GET', `/v1/banks/${bank}/config/history${query}`, ROOT)
      changes.push(...body['history'] as typeof changes)
      if (body['next_cursor'] === null) return changes
      query = `?limit=10&cursor=${String(body['next_cursor'])}`
    }
  }

  async permissions (bank: string, principal: string): Promise<Permission[]> {
    const { body } = await this.call('GET', `/v1/whoami?bank_id=${bank}`, principal)
    return (body['permissions'] as Array<{ permission: Permission }>).map(({ permission }) => permission)
  }

  async reload (file: BankFile, schema: string): Promise<Answer> {
    Replica.write(this.#path, file, schema)
    this.file = file
    return await this.call('POST', '/v1/admin/reload', ROOT, {})
  }
}

/** Starts two processes on one schema, with the first configuration file. */
export async function startReplicas (t: Test, schema: string): Promise<Replica[]> {
  const folder = t.testdir({})
  const start = async (name: string) => {
    const path = join(folder, `${name}.yaml`)
    Replica.write(path, FILES[0]!, schema)
    const { url } = await startServer(t, {
      DATABASE_URL: DATABASE_URL ?? '',
      SERVICES_CONFIG_PATH: path,
      SERVICE_AUTH_MODE: 'api_key',
      SERVICE_API_KEY: KEY,
      SERVICE_ADMIN_TOKEN: KEY,
      SERVICES_LOG_LEVEL: 'info',
    })
    return new Replica(name, url, path, FILES[0]!)
  }
  // They start one after the other, because the first one creates the tables.
  return [await start('one'), await start('two')]
}
