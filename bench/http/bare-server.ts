import { readFileSync } from 'node:fs'
import Fastify from 'fastify'
import { Type } from 'typebox'
import {
  RecallAnswer, RecallRequest, ReflectAnswer, ReflectRequest, RetainAnswer, RetainRequest,
} from '../../lib/operations/schemas.js'
import { checker } from '../checker.js'
import { Recordings } from './recordings.js'

/*
 * The ceiling: Fastify with the gateway's own schemas and no service. Each route validates the same body and answers
 * with one recorded answer of the gateway, serialized for each request.
 */

const KINDS = {
  recall: { body: RecallRequest, answer: RecallAnswer },
  reflect: { body: ReflectRequest, answer: ReflectAnswer },
  retain: { body: RetainRequest, answer: RetainAnswer },
}

const file = process.argv[2]
if (file === undefined) throw new Error('The first argument names the file of recorded answers')
const recordings = checker(Recordings, file)(JSON.parse(readFileSync(file, 'utf8')))

// The option only suppresses warnings about schemas of TypeBox, which use unions of types.
const app = Fastify({ logger: false, ajv: { customOptions: { strict: false } } })
app.get('/live', {
  schema: { response: { 200: Type.Object({ status: Type.String() }) } },
}, async () => ({ status: 'ok' }))
for (const { path, kind, answer } of recordings) {
  app.post(path, { schema: { body: KINDS[kind].body, response: { 200: KINDS[kind].answer } } }, async () => answer)
}
await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) })
