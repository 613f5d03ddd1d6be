import { parseArgs } from 'node:util'
import { UnusableInput } from '../checker.js'
import { checkUrl } from '../database-url.js'

export const USAGE = `npm run bench:durability -- [options]
  --rounds N                      kills of the gateway on each store, 0 to 1000; default 10
  --clients N                     clients that write at the same time, 1 to 64; default 10
  --store pglite|postgres|both    default pglite
  --url URI                       a PostgreSQL with pgvector, whose role may create schemas; or use --pg-bin
  --pg-bin DIR                    folder of initdb, pg_ctl and postgres; the bench starts its own cluster
  --failover N                    instead: N faults of a primary under Patroni, every second one a switchover; needs
                                  --pg-bin, and Patroni, etcd, PgBouncer and HAProxy
  --asynchronous                  without synchronous replication, where a failover may lose what was acknowledged
  --database-faults               also stops the database and fills its disk; PostgreSQL needs --pg-bin
  --seed N                        seed of the random times of the kills and of the samples; default 1
  --json FILE                     also writes the figures there`

const STORES = { pglite: ['pglite'], postgres: ['postgres'], both: ['pglite', 'postgres'] } as const

export type StoreName = 'pglite' | 'postgres'

export interface Options {
  rounds: number
  clients: number
  stores: readonly StoreName[]
  /** Connection URI; absent when the bench starts a cluster. */
  url: string | undefined
  pgBin: string | undefined
  databaseFaults: boolean
  /** Faults of the primary under Patroni; undefined for the other faults. */
  failovers: number | undefined
  asynchronous: boolean
  seed: number
  json: string | undefined
}

/** @throws UnusableInput for a value that cannot be used; parseArgs itself throws for an unknown option */
export function readOptions (args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '10' },
      clients: { type: 'string', default: '10' },
      store: { type: 'string', default: 'pglite' },
      url: { type: 'string' },
      'pg-bin': { type: 'string' },
      'database-faults': { type: 'boolean', default: false },
      failover: { type: 'string' },
      asynchronous: { type: 'boolean', default: false },
      seed: { type: 'string', default: '1' },
      json: { type: 'string' },
    },
  })
  const { store, url, 'pg-bin': pgBin, 'database-faults': databaseFaults, failover, asynchronous } = values
  if (!isStores(store)) {
    throw new UnusableInput(`--store: found ${JSON.stringify(store)}, allowed are ${Object.keys(STORES).join(', ')}`)
  }
  const stores = STORES[store]
  if (store !== 'pglite') {
    if ((url === undefined) === (pgBin === undefined)) {
      throw new UnusableInput('--store postgres needs one of --url and --pg-bin')
    }
    if (databaseFaults && pgBin === undefined) {
      throw new UnusableInput('--database-faults ends the database, so PostgreSQL must be the bench\'s own: ' +
        'give --pg-bin')
    }
  }
  if (failover === undefined ? asynchronous : pgBin === undefined) {
    throw new UnusableInput(asynchronous ? '--asynchronous needs --failover' : '--failover needs --pg-bin')
  }
  return {
    rounds: wholeNumber('--rounds', values.rounds, 0, 1000),
    clients: wholeNumber('--clients', values.clients, 1, 64),
    stores,
    url: url === undefined ? undefined : checkUrl(url),
    pgBin,
    databaseFaults,
    failovers: failover === undefined ? undefined : wholeNumber('--failover', failover, 1, 1000),
    asynchronous,
    seed: wholeNumber('--seed', values.seed, 0, 2 ** 31),
    json: values.json,
  }
}

function isStores (name: string): name is keyof typeof STORES {
  return Object.hasOwn(STORES, name)
}

function wholeNumber (option: string, text: string, min: number, max: number): number {
  const number = Number(text)
  if (!/^\d{1,10}$/.test(text) || number < min || number > max) {
    throw new UnusableInput(`${option}: found ${JSON.stringify(text)}, allowed are whole numbers from ${min} to ${max}`)
  }
  return number
}
