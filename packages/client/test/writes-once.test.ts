import { request as send } from 'node:http'
import t, { type Test } from 'tap'
import { SEED } from '../../../test/helpers/fast-check.js'
import { collect, gateway, type Gateway } from './gateway.js'
import { answering, hangUp, HostileServer, type Behaviour, type Received } from './hostile-server.js'

const ROUNDS = 1000

/** Numbers within 0–1 that are the same for the same seed (mulberry32). */
function chances (seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Passes a request to the gateway unchanged. */
async function forward (
  { url }: Gateway, { method, url: path, headers, body }: Received,
): Promise<[status: number, body: Buffer]> {
  return await new Promise((resolve, reject) => {
    const sent = send(`${url}${path}`, { method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => { chunks.push(chunk) })
      response.on('end', () => { resolve([response.statusCode ?? 0, Buffer.concat(chunks)]) })
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** A network before the gateway that loses half of what goes through it, in ways that chance chooses. */
function lossy (target: Gateway, random: () => number, counts: Map<string, number>): Behaviour {
  const ways: Record<string, Behaviour> = {
    'the request is lost': hangUp,
    'the answer is lost': async (response, request) => {
      await forward(target, request)
      response.socket?.destroy()
    },
    'half of the answer is lost': async (response, request) => {
      const [status, body] = await forward(target, request)
      response.writeHead(status, { 'content-length': body.length })
      await new Promise<void>((resolve) => { response.write(body.subarray(0, body.length / 2), () => { resolve() }) })
      response.socket?.destroy()
    },
    // The next try may come while the gateway still works on this one.
    'the client is cut off while the gateway works': async (response, request) => {
      response.socket?.destroy()
      await forward(target, request)
    },
    'a proxy refuses': answering(503, '<html>', { 'retry-after': '1' }),
  }
  const names = Object.keys(ways)
  return async (response, request) => {
    const name = random() < 0.5 ? names[Math.floor(random() * names.length)]! : 'nothing is lost'
    counts.set(name, (counts.get(name) ?? 0) + 1)
    const way = ways[name]
    if (way !== undefined) {
      await way(response, request)
      return
    }
    const [status, body] = await forward(target, request)
    await answering(status, body)(response, request)
  }
}

interface LossyGateway {
  target: Gateway
  network: HostileServer
  /** The number of times that each way was chosen. */
  counts: Map<string, number>
  random: () => number
}

async function lossyGateway (t: Test): Promise<LossyGateway> {
  const [target, network] = [await gateway(t), await HostileServer.start(t)]
  const [random, counts] = [chances(SEED), new Map<string, number>()]
  network.meets(lossy(target, random, counts))
  return { target, network, counts, random }
}

t.test(`no write is done twice in ${ROUNDS} rounds with cut connections`, async (t) => {
  const { target, network, counts, random } = await lossyGateway(t)
  const { client } = network.client({ retries: 40, timing: { random, sleep: async () => {} } })
  for (let round = 0; round < ROUNDS; round++) {
    const content = `Fact ${round} is told.`
    if (round % 4 === 0) {
      const { results } = await client.retainBatch({
        bank_id: 'bank', items: [{ content }, { content: `${content} Twice.` }],
      })
      if (!results.every(({ stored }) => stored)) t.fail(`the batch of round ${round} was stored twice`)
    } else {
      const { stored } = await client.retain({ bank_id: 'bank', content })
      // The gateway also recognises a repeat by its text and reports it, so a second write without the key shows here.
      if (!stored) t.fail(`round ${round} was stored twice`)
    }
    if (round % 10 === 9) {
      const { deleted_count: deleted } = await client.forget({ bank_id: 'bank', tags: ['none'] })
      if (deleted !== 0) t.fail(`round ${round} has forgotten what it should not`)
    }
  }
  const direct = target.client()
  const { memory_count: count } = await direct.getBank({ bank_id: 'bank' })
  t.equal(count, ROUNDS + ROUNDS / 4)
  const texts = (await collect(direct.listMemories({ bank_id: 'bank', limit: 200 }))).map(({ text }) => text)
  t.equal(new Set(texts).size, count)
  t.comment(JSON.stringify(Object.fromEntries(counts)))
  t.ok(Math.min(...counts.values()) > 50 && counts.size === 6, 'every kind of loss has occurred often')
})

t.test('forget and import report what they did, although the first answer was lost', async (t) => {
  const { target, network, random } = await lossyGateway(t)
  const { client } = network.client({ retries: 40, timing: { random, sleep: async () => {} } })
  for (let round = 0; round < 25; round++) {
    const { memory_id: id } = await client.retain({ bank_id: 'bank', content: `Fact ${round}.`, tags: ['all'] })
    const lines = await collect(target.client().exportBank({ bank_id: 'bank' }))
    t.same(await client.forget({ bank_id: 'bank', memory_ids: [id] }), { deleted_count: 1, memory_ids: [id] })
    t.same(await client.importBank({ bank_id: 'bank', lines }), { imported: 1, skipped: round, overwritten: 0 })
  }
  t.equal((await target.client().getBank({ bank_id: 'bank' })).memory_count, 25)
})

t.test('without its key a write whose answer was lost is done again', async (t) => {
  const [target, network] = [await gateway(t), await HostileServer.start(t)]
  const without = ({ headers, ...request }: Received): Received => {
    const { 'idempotency-key': _key, ...rest } = headers
    return { ...request, headers: rest }
  }
  network.meets(
    async (response, request) => {
      await forward(target, without(request))
      response.socket?.destroy()
    },
    async (response, request) => {
      const [status, body] = await forward(target, without(request))
      await answering(status, body)(response, request)
    },
  )
  t.match(await network.client().client.retain({ bank_id: 'bank', content: 'One.' }), {
    stored: false, deduplicated: true,
  })
})
