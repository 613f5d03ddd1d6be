import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { exchange } from '../../bench/http-exchange.js'
import { freePort } from '../../bench/free-port.js'
import { startServer, type RunningServer } from '../helpers/server.js'
import { DATABASE_URL, freshSchema } from '../helpers/sql-stores.js'

const PROGRAM = '/usr/sbin/haproxy'
const FILE = fileURLToPath(new URL('../../ops/haproxy.cfg', import.meta.url))
const CLIENTS = 6
const WAIT_MS = 30_000

const missing = DATABASE_URL === undefined ? 'TEST_DATABASE_URL is not set' : `${PROGRAM} is not installed`
const skip = DATABASE_URL === undefined || !existsSync(PROGRAM) ? missing : false

interface Reply {
  status: number
  text: string
}

/** Clients that retain and recall without pause over kept-alive connections. */
class Load {
  readonly acknowledged: string[] = []
  readonly failures: string[] = []
  answered = 0
  readonly #url: string
  readonly #agent = new Agent({ keepAlive: true })
  readonly #clients: Promise<unknown>
  #isOver = false

  constructor (url: string) {
    this.#url = url
    this.#clients = Promise.all(Array.from({ length: CLIENTS }, async (_, client) => {
      for (let number = 0; !this.#isOver; number++) await this.#turn(`note${client}x${number}`)
    }))
  }

  async stop (): Promise<void> {
    this.#isOver = true
    await this.#clients
    this.#agent.destroy()
  }

  async post (path: string, body: object): Promise<Reply> {
    return await exchange(new URL(path, this.#url), { method: 'POST', agent: this.#agent, body: JSON.stringify(body) })
  }

  async #turn (word: string): Promise<void> {
    const requests = [
      ['/v1/retain', { bank_id: 'team', content: `The otter wrote ${word} down.` }],
      ['/v1/recall', { bank_id: 'team', query: 'otter', max_results: 1 }],
    ] as const
    for (const [path, body] of requests) {
      const reply = await this.post(path, body).catch((error: unknown) => String(error))
      this.answered++
      if (typeof reply === 'string') this.failures.push(`${path}: ${reply}`)
      else if (reply.status !== 200) this.failures.push(`${path}: ${reply.status} ${reply.text}`)
      else if (path === '/v1/retain') this.acknowledged.push(word)
    }
  }
}

async function until (condition: () => boolean | Promise<boolean>): Promise<boolean> {
  const started = performance.now()
  while (!await condition()) {
    if (performance.now() - started > WAIT_MS) return false
    await delay(20)
  }
  return true
}

async function isReady (url: string): Promise<boolean> {
  return await fetch(`${url}/health`).then(({ status }) => status === 200, () => false)
}

/** Two gateways on one database behind the proxy. */
async function start (t: Test) {
  const path = join(t.testdir({
    'config.yaml': JSON.stringify({
      vector_store: 'postgres',
      vector_store_config: { schema: freshSchema(t), pool_size: 4 },
      embedding_provider: 'mock',
    }),
  }), 'config.yaml')
  const ports = [await freePort(), await freePort()]
  const gateways: RunningServer[] = []
  const startGateway = async (index: number) => {
    gateways[index] = await startServer(t, {
      SERVICES_PORT: String(ports[index]),
      SERVICES_CONFIG_PATH: path,
      DATABASE_URL: DATABASE_URL!,
      SERVICES_DRAIN_MS: '2500',
    })
  }
  for (const index of ports.keys()) await startGateway(index)
  const port = await freePort()
  const env = {
    LISTEN: `127.0.0.1:${port}`, GATEWAY_1: `127.0.0.1:${ports[0]}`, GATEWAY_2: `127.0.0.1:${ports[1]}`,
  }
  const check = spawnSync(PROGRAM, ['-c', '-f', FILE], { env, encoding: 'utf8' })
  t.equal(check.status, 0, check.stderr)
  t.notMatch(check.stderr, /WARNING|ALERT/)
  const proxy = spawn(PROGRAM, ['-db', '-f', FILE], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  for (const stream of [proxy.stdout, proxy.stderr]) stream.on('data', (data: Buffer) => { log += data.toString() })
  t.teardown(async () => {
    proxy.kill('SIGKILL')
    if (proxy.exitCode === null && proxy.signalCode === null) await once(proxy, 'exit')
  })
  const url = `http://127.0.0.1:${port}`
  t.ok(await until(async () => await isReady(url)), 'the proxy finds a gateway')
  return { url, gateways, ports, startGateway, log: () => log }
}

/** The words that the bank has, sorted. */
async function storedWords (url: string): Promise<string[]> {
  const text = await (await fetch(`${url}/v1/banks/team/export`)).text()
  return [...text.matchAll(/The otter wrote (\w+) down/g)].map(([, word]) => word!).sort()
}

t.test('a rolling restart behind HAProxy loses no request', { skip }, async (t) => {
  const { url, gateways, ports, startGateway, log } = await start(t)
  const load = new Load(url)
  for (const index of [0, 1, 0, 1]) {
    const before = load.answered
    t.ok(await until(() => load.answered > before + 50), 'requests are answered')
    const gateway = gateways[index]!
    gateway.process.kill('SIGTERM')
    t.equal(await gateway.ended, 0, 'the gateway ends by itself')
    await startGateway(index)
    const own = `http://127.0.0.1:${ports[index]}`
    t.ok(await until(async () => await isReady(own)))
    const down = log().match(/is DOWN/g)?.length ?? 0
    t.ok(await until(() => (log().match(/is UP/g)?.length ?? 0) >= down), 'the proxy uses it again')
  }
  await load.stop()
  t.same(load.failures, [], `of ${load.answered} requests`)
  t.ok(load.answered > 400)
  t.same(await storedWords(url), [...load.acknowledged].sort(), 'each memory once')
})

t.test('a gateway that is killed takes only its requests in flight with it', { skip }, async (t) => {
  const { url, gateways } = await start(t)
  const load = new Load(url)
  t.ok(await until(() => load.answered > 100))
  gateways[0]!.process.kill('SIGKILL')
  await gateways[0]!.ended
  const after = load.answered
  t.ok(await until(() => load.answered > after + 200), 'the other gateway answers')
  await load.stop()
  t.ok(load.failures.length <= CLIENTS, load.failures.join('\n'))
  const stored = new Set(await storedWords(url))
  t.same(load.acknowledged.filter((word) => !stored.has(word)), [], 'nothing acknowledged is lost')
})
