import type { FastifyRequest } from 'fastify'
import { hostOfHeader } from '../lib/config/hosts.js'
import { isBankId } from '../lib/identity/context.js'
import { pathParameter } from './path-parameter.js'

/** The path at which RFC 9728 (section 3) places the metadata of a protected resource. */
export const METADATA_PATH = '/.well-known/oauth-protected-resource'

/**
 * The address of the gateway as the client knows it.
 * @param publicUrl `mcp.public_url`
 * @returns undefined without `publicUrl` and a valid Host header
 */
export function addressOf ({ headers: { host } }: FastifyRequest, publicUrl: string | undefined): string | undefined {
  if (publicUrl !== undefined) return publicUrl
  return host === undefined || hostOfHeader(host) === undefined ? undefined : `http://${host}`
}

/** The path of the endpoint that a request is for, with its bank if it is pinned to one. */
export function endpointPath (request: FastifyRequest): string {
  const bankId = pathParameter(request, 'bank_id')
  return typeof bankId === 'string' && isBankId(bankId) ? `/mcp/banks/${encodeURIComponent(bankId)}` : '/mcp'
}
