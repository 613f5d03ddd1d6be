import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { callerOf } from '../lib/identity/context.js'
import { ImportAnswer, ImportQuery } from '../lib/memory/schemas.js'
import { onResponseClose } from '../http/response-close.js'
import { backPressured, encodeChunks } from '../http/chunked-body.js'
import { BankParams } from './banks.js'
import { disconnectSignal } from '../http/disconnect-signal.js'
import { IdempotencyHeaders, idempotencyOf } from './idempotency.js'
import { answers, CALLER_ERRORS, IDEMPOTENCY_ERRORS, LIMIT_ERRORS } from './responses.js'

const NDJSON = 'application/x-ndjson'
const IMPORT_ERRORS = ['body_too_large', 'unsupported_media_type', 'model_output_invalid', 'server_busy'] as const
const config = { scope: 'memory', permission: 'admin' } as const

/** A scope of its own: its bodies are lines, not JSON. */
export const transferRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser([NDJSON, 'application/ndjson'], (request, payload, done) => { app.readBody(request, payload, done) })

  app.get('/v1/banks/:bank_id/export', {
    config,
    schema: {
      operationId: 'exportBank',
      tags: ['transfer'],
      summary: 'A bank as NDJSON',
      description: 'A header line, then every memory, oldest first, as the bank stood when the request came.',
      params: BankParams,
      response: answers({ 200: { description: 'NDJSON', content: { [NDJSON]: { schema: Type.String() } } } }, CALLER_ERRORS, ['too_many_streams']),
    },
  }, async (request, reply) => {
    const { params, context } = request
    app.openStream(callerOf(context), reply)
    const lines = await app.memory.transfer.export(params.bank_id, context, disconnectSignal(reply))
    // The source is ended even if nobody ever read from it; one that has ended takes no notice.
    onResponseClose(reply, lines.end)
    return await reply
      .type(NDJSON)
      .header('content-disposition', `attachment; filename="${params.bank_id.replaceAll(/[^A-Za-z0-9._-]/g, '_')}.ndjson"`)
      .send(backPressured(encodeChunks(lines)))
  })

  app.post('/v1/banks/:bank_id/import', {
    config: { ...config, bodyBound: 'bounds.import_bytes' },
    bodyLimit: app.bounds.import_bytes,
    // What is a text to a client is bytes here, which are checked line by line.
    validatorCompiler: (part) => part.httpPart === 'body' ? () => true : app.validatorCompiler!(part),
    schema: {
      operationId: 'importBank',
      tags: ['transfer'],
      summary: 'Read an export back, all of it or none',
      description: 'Memories keep their ids and times and pass the same checks as a retain. Limits of their own count them (`import_per_minute`, `import_per_day`), and `global_per_minute` counts the import once; the limits of retain do not.',
      params: BankParams,
      querystring: ImportQuery,
      headers: IdempotencyHeaders,
      body: { content: { [NDJSON]: { schema: Type.String({ description: 'An export: a header line, then a memory a line.' }) } } },
      response: answers({ 200: ImportAnswer }, CALLER_ERRORS, IDEMPOTENCY_ERRORS, LIMIT_ERRORS, IMPORT_ERRORS),
    },
  }, async (request, reply) => {
    const { on_conflict: onConflict = 'skip', config: ownConfig = 'ignore' } = request.query
    const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
    const options = { onConflict, config: ownConfig, bounds: app.bounds }
    return await app.memory.transfer.import(request.params.bank_id, bytes, options, request.context, await idempotencyOf(request, reply), disconnectSignal(reply))
  })
}
