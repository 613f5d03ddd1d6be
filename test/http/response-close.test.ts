import { once } from 'node:events'
import { connect } from 'node:net'
import Fastify, { type FastifyReply } from 'fastify'
import t from 'tap'
import { onResponseClose } from '../../http/response-close.js'

/** More than the listeners of one kind that Node takes for a leak. */
const COUNT = 20

await t.test('one listener reports the end of a response to all callbacks, in order', async (t) => {
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  const told: Array<[number, boolean]> = []
  let added = 0
  let over!: FastifyReply
  let end!: () => void
  const ended = new Promise<void>((resolve) => { end = resolve })
  app.get('/', async (_request, reply) => {
    const before = reply.raw.listenerCount('close') + reply.raw.listenerCount('finish')
    for (let index = 0; index < COUNT; index++) onResponseClose(reply, (answered) => { told.push([index, answered]) })
    onResponseClose(reply, end)
    added = reply.raw.listenerCount('close') + reply.raw.listenerCount('finish') - before
    over = reply
    return 'done'
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  t.equal(await (await fetch(url)).text(), 'done')
  await ended
  t.equal(added, 2)
  t.same(told, Array.from({ length: COUNT }, (_, index) => [index, true]))
  onResponseClose(over, (answered) => { told.push([COUNT, answered]) })
  t.same(told.at(-1), [COUNT, true], 'a listener that is added after the end is called at once')
})

await t.test('a client that disconnects is reported as not having its whole answer', async (t) => {
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  const told: boolean[] = []
  const gone = new Promise<{ reply: FastifyReply }>((resolve) => {
    app.get('/', (_request, reply) => {
      onResponseClose(reply, (answered) => { told.push(answered) })
      onResponseClose(reply, (answered) => {
        told.push(answered)
        resolve({ reply })
      })
      reply.hijack()
      reply.raw.write('a part')
    })
  })
  const client = connect(Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port), '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await once(client, 'data')
  client.destroy()
  onResponseClose((await gone).reply, (answered) => { told.push(answered) })
  t.same(told, [false, false, false])
})
