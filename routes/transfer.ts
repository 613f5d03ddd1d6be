import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import {
  BankId, exportLine, ExportQuery, IMPORT_DEFAULTS, ImportAnswer, importLine, ImportQuery,
} from '../lib/operations/schemas.js'
import { onResponseClose } from '../http/response-close.js'
import { bodyCodingFault, bytesOf } from '../http/body-coding.js'
import { disconnectSignal } from '../http/disconnect-signal.js'
import { rateLimitHeaders } from '../http/rate-limit-headers.js'
import { withoutUndefined } from '../lib/base/members.js'
import { LIMIT_ERRORS } from '../lib/operations/operation.js'
import { IdempotencyHeaders, idempotencyOf } from './idempotency.js'
import { answers, CALLER_ERRORS, IDEMPOTENCY_ERRORS, withHeaders } from './responses.js'

const NDJSON = 'application/x-ndjson'
const IMPORT_ERRORS = ['body_too_large', 'unsupported_media_type', 'model_output_invalid', 'server_busy'] as const
const EXAMPLE = '{"format":"memory-gateway-export","version":1}\n{"text":"Alice prefers tea over coffee."}\n'
const EXPORT = Type.String({ examples: [EXAMPLE], 'x-item-schema': exportLine })
const IMPORT_BODY = Type.String({
  description: 'An export: a header line, then one memory per line.',
  examples: [EXAMPLE],
  'x-item-schema': importLine,
})
const BankParams = Type.Object({ bank_id: BankId })
const config = { scope: 'memory', permission: 'admin' } as const

/** Routes with a content type parser of their own, because their bodies are NDJSON. */
export const transferRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.removeAllContentTypeParsers()
  app.takeBytes([NDJSON, 'application/ndjson'])

  app.get('/v1/banks/:bank_id/export', {
    config,
    schema: {
      operationId: 'exportBank',
      tags: ['transfer'],
      summary: 'Export a bank as NDJSON',
      description: 'Returns a header line, then every memory, oldest first, in the state of the bank when the ' +
        'request arrived.',
      params: BankParams,
      querystring: ExportQuery,
      response: answers({
        200: {
          description: 'NDJSON.',
          content: { [NDJSON]: { schema: withHeaders(EXPORT, 'Content-Disposition') } },
        },
      }, CALLER_ERRORS, ['too_many_streams', 'not_supported']),
    },
  }, async (request, reply) => {
    const { params, query, context } = request
    const name = params.bank_id.replaceAll(/[^A-Za-z0-9._-]/g, '_')
    app.openStream(reply)
    const lines = await app.memory.exportBank({ ...query, ...params }, context, { signal: disconnectSignal(reply) })
    // Ends the source even if nothing was read from it; an ended source ignores the call.
    onResponseClose(reply, lines.end)
    return await reply
      .type(NDJSON)
      .header('content-disposition', `attachment; filename="${name}.ndjson"`)
      .send(Readable.from(piecesOf(lines), { highWaterMark: 1 }))
  })

  app.post('/v1/banks/:bank_id/import', {
    config: { ...config, bodyBound: 'bounds.import_bytes' },
    bodyLimit: app.bounds.import_bytes,
    preParsing: ({ headers }, _reply, payload, done) => { done(bodyCodingFault(headers) ?? null, payload) },
    // The body is documented as a string and arrives as bytes; the import checks it line by line.
    validatorCompiler: (part) => part.httpPart === 'body' ? () => true : app.validatorCompiler!(part),
    schema: {
      operationId: 'importBank',
      tags: ['transfer'],
      summary: 'Import an export, all of it or none',
      description: 'Memories keep their ids and times and undergo the same checks as in a retain. They count towards ' +
        '`import_per_minute` and `import_per_day`, not towards the limits of retain; the import counts once towards ' +
        '`global_per_minute`.',
      params: BankParams,
      querystring: ImportQuery,
      headers: IdempotencyHeaders,
      body: { content: { [NDJSON]: { schema: IMPORT_BODY } } },
      response: answers({ 200: ImportAnswer }, CALLER_ERRORS, IDEMPOTENCY_ERRORS, LIMIT_ERRORS, IMPORT_ERRORS),
    },
  }, async (request, reply) => {
    const { query, params, body, context } = request
    const idempotency = await idempotencyOf(request, reply, undefined, withoutDefaults(query))
    return await app.memory.importBank(
      { ...query, bank_id: params.bank_id, bytes: bytesOf(body), bounds: app.bounds },
      context, { idempotency, signal: disconnectSignal(reply), noteRates: rateLimitHeaders(reply) },
    )
  })
}

/** Characters that are written to a connection at a time. */
const PIECE = 65_536

/** The lines in pieces, because a write for each would take most of the time. The header is sent at once. */
async function * piecesOf (lines: AsyncIterable<string>): AsyncGenerator<string> {
  let piece = ''
  let isFirst = true
  for await (const line of lines) {
    piece += line
    if (piece.length < PIECE && !isFirst) continue
    isFirst = false
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}

/** A parameter with its default value asks for the same import as one that is absent, so both have one form. */
function withoutDefaults ({ on_conflict: onConflict, config: ownConfig }: ImportQuery): ImportQuery {
  return withoutUndefined({
    on_conflict: onConflict === IMPORT_DEFAULTS.on_conflict ? undefined : onConflict,
    config: ownConfig === IMPORT_DEFAULTS.config ? undefined : ownConfig,
  })
}
