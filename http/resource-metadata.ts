import type { FastifyRequest } from 'fastify'
import { isBankId } from '../lib/access/context.js'
import { hostOfHeader } from './host-header.js'
import { pathParameter } from './path-parameter.js'

/** The path at which RFC 9728 (section 3) places the metadata of a protected resource. */
export const METADATA_PATH = '/.well-known/oauth-protected-resource'

/** Characters that a URL in a quoted text of a header cannot have. */
const UNSAFE = /[^!#-[\]-~]+/g

/**
 * The address of the gateway as the client knows it, with the prefix of a gateway that is part of another app.
 * @param publicUrl `mcp.public_url`
 * @returns undefined without `publicUrl` and a valid Host header
 */
export function addressOf (request: FastifyRequest, publicUrl: string | undefined): string | undefined {
  if (publicUrl !== undefined) return publicUrl
  const { host } = request.headers
  return host === undefined || hostOfHeader(host) === undefined ? undefined : `http://${host}${prefixOf(request)}`
}

/** The prefix with the parameters that it may have, such as `/:tenant/memory`, as the request fills them. */
function prefixOf (request: FastifyRequest): string {
  return request.server.prefix
    .replace(UNSAFE, encodeURIComponent)
    .replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(pathParameter(request, name))))
}

/** The path of the endpoint that a request is for, with its bank if it is pinned to one. */
export function endpointPath (request: FastifyRequest): string {
  const bankId = pathParameter(request, 'bank_id')
  return typeof bankId === 'string' && isBankId(bankId) ? `/mcp/banks/${encodeURIComponent(bankId)}` : '/mcp'
}
