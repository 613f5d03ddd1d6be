import { originValidation } from '@modelcontextprotocol/fastify'
import { localhostAllowedOrigins } from '@modelcontextprotocol/server'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { disconnectSignal } from '../http/disconnect-signal.js'
import { logFailure, sendError, toServiceError } from '../http/error-handling.js'
import { errorBody, errorHeaders, HttpError, statusOf } from '../http/error-responses.js'
import { pathParameter } from '../http/path-parameter.js'
import { addressOf, endpointPath, METADATA_PATH } from '../http/resource-metadata.js'
import type { McpSettings } from '../lib/config/config.js'
import { type ErrorCode, invalidField, ServiceError } from '../lib/base/service-error.js'
import { isBankId } from '../lib/access/context.js'
import { BANK_ID_IN_WORDS } from '../lib/base/ids.js'
import { valueAt } from '../lib/base/json-object.js'
import { beginningOf } from '../lib/base/shorten.js'
import { localCaller } from '../mcp/caller.js'
import { checkMessages, McpHttp } from '../mcp/http.js'
import { Refusals } from '../mcp/refusals.js'
import { createMcpServer } from '../mcp/server.js'
import { idempotencyHeader } from './idempotency.js'

/** The faults of a message that cannot be read, with their codes of JSON-RPC 2.0 (section 5.1). */
const CODES: Partial<Record<ErrorCode, number>> = {
  invalid_json: -32_700,
  invalid_request: -32_600,
  body_too_large: -32_600,
  unsupported_media_type: -32_600,
  internal_error: -32_603,
}

/**
 * Sends the error of a request that the JSON-RPC handler did not answer. For a fault of the message it is a JSON-RPC
 * error, without an id, because the message was not read. Other refusals, such as of credentials, have the format of
 * all other routes.
 */
function sendJsonRpcError (error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const known = toServiceError(error, request)
  const code = CODES[known.code]
  if (code === undefined) {
    sendError(known, request, reply)
    return
  }
  logFailure(known, request)
  const { detail, ...data } = errorBody(known, request.id)
  void reply
    .code(statusOf(known))
    .headers(errorHeaders(known))
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send({ jsonrpc: '2.0', id: null, error: { code, message: detail, data } })
}

interface McpRouteOptions {
  settings: McpSettings
  /** The version of the gateway. */
  version: string
  /** Whether tokens come from an identity provider, which clients find through the protected-resource metadata. */
  hasIdentityProvider: boolean
  /** Origins whose pages may call the other routes, and so this one. */
  corsOrigins: readonly string[]
}

/** The Model Context Protocol over Streamable HTTP, without sessions. GET and DELETE are answered with 405. */
export const mcpRoutes: FastifyPluginAsync<McpRouteOptions> = async (
  app, { settings, version, hasIdentityProvider, corsOrigins },
) => {
  const { publicUrl, allowedOrigins, answerTokens, batchMessages } = settings
  app.links.push({
    name: 'mcp', path: '/mcp', title: 'The endpoint of the Model Context Protocol', isForPrograms: true,
  })
  const http = new McpHttp((error) => { app.log.debug({ reason: error.message }, 'MCP request refused') })
  app.addHook('onClose', async () => { await http.close() })
  const known = [...corsOrigins, ...(publicUrl === undefined ? [] : [publicUrl])]
    .flatMap((url) => URL.canParse(url) ? [new URL(url).hostname] : [])
  app.addHook('onRequest', originValidation([...localhostAllowedOrigins(), ...known, ...allowedOrigins]))
  app.setErrorHandler((error, request, reply) => {
    const known = toServiceError(error, request)
    const isChallenged = hasIdentityProvider && known.code === 'unauthenticated'
    sendJsonRpcError(isChallenged ? withMetadata(known, request, publicUrl) : known, request, reply)
  })

  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    const { context, headers } = request
    const body = checkedBody(request, batchMessages)
    const idempotencyKey = idempotencyHeader(request)
    const refusals = new Refusals(request.id, (error) => { logFailure(toServiceError(error, request), request) })
    const response = await http.answer({
      headers,
      body,
      signal: disconnectSignal(reply),
      makeServer: () => createMcpServer({
        caller: localCaller(app.memory, context),
        refusals,
        version,
        answerTokens,
        // The messages of a batch count as one request in flight, so they are executed one after the other.
        concurrency: 1,
        pinned: pinnedBank(request),
        idempotencyKey,
      }),
    })
    reply.code(response.status)
    if (response.contentType !== undefined) reply.type(response.contentType)
    return await reply.send(response.body === '' ? undefined : response.body)
  }
  for (const url of ['/mcp', '/mcp/banks/:bank_id']) {
    app.post(url, { config: { scope: 'memory' }, schema: { hide: true } }, answer)
  }
}

function checkedBody ({ body, headers }: FastifyRequest, batchMessages: number): unknown {
  if (body === undefined) throw new ServiceError('invalid_json', 'Request body is empty')
  // The SDK would take null for a body that was not parsed yet.
  if (body === null) throw new ServiceError('invalid_request', 'Request body is null, which is no message of JSON-RPC')
  if (!Array.isArray(body)) {
    checkMessages([body])
    return body
  }
  if (body.length > batchMessages) {
    throw new ServiceError('invalid_request', `A batch has at most ${batchMessages} messages (mcp.batch_messages)`)
  }
  if (headers['idempotency-key'] !== undefined) {
    throw invalidField('Idempotency-Key', 'cannot be sent with a batch; the tools have an argument idempotency_key')
  }
  checkMessages(body)
  checkIdsDiffer(body)
  return body
}

/** Answers are matched to requests by their ids, so two requests of a batch with one id could not both be answered. */
function checkIdsDiffer (messages: readonly unknown[]): void {
  const ids = new Set<unknown>()
  for (const message of messages) {
    const id = valueAt(message, 'id') ?? undefined
    if (id === undefined || valueAt(message, 'method') === undefined) continue
    if (ids.has(id)) {
      const shown = beginningOf(JSON.stringify(id), 100)
      throw new ServiceError('invalid_request', `Two requests of the batch have the id ${shown}`)
    }
    ids.add(id)
  }
}

function pinnedBank (request: FastifyRequest): string | undefined {
  const bankId = pathParameter(request, 'bank_id')
  if (bankId === undefined) return undefined
  if (typeof bankId !== 'string' || !isBankId(bankId)) {
    throw invalidField('bank_id', `must be a text ${BANK_ID_IN_WORDS}`)
  }
  return bankId
}

/** RFC 9728 section 5.1: the challenge names the metadata of the resource. */
function withMetadata (error: ServiceError, request: FastifyRequest, publicUrl: string | undefined): ServiceError {
  const address = addressOf(request, publicUrl)
  if (address === undefined) return error
  const headers = error instanceof HttpError ? error.headers : {}
  const challenge = headers['www-authenticate'] ?? 'Bearer'
  const metadata = `resource_metadata="${address}${METADATA_PATH}${endpointPath(request)}"`
  return new HttpError(error.code, error.detail, {
    ...headers,
    'www-authenticate': `${challenge}${challenge.includes(' ') ? ', ' : ' '}${metadata}`,
  })
}
