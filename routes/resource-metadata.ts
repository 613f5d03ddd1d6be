import type { FastifyPluginAsync } from 'fastify'
import { addressOf, endpointPath, METADATA_PATH } from '../http/resource-metadata.js'
import { ServiceError } from '../lib/errors/service-error.js'

export interface ResourceMetadataOptions {
  issuer: string
  /** `mcp.public_url`. */
  publicUrl: string | undefined
}

/** Protected-resource metadata (RFC 9728), from which MCP clients learn where tokens come from. */
export const resourceMetadataRoutes: FastifyPluginAsync<ResourceMetadataOptions> = async (
  app, { issuer, publicUrl },
) => {
  for (const endpoint of ['', '/mcp', '/mcp/banks/:bank_id']) {
    app.get(`${METADATA_PATH}${endpoint}`, { config: { scope: 'public' }, schema: { hide: true } }, async (request) => {
      const address = addressOf(request, publicUrl)
      if (address === undefined) throw new ServiceError('not_found', 'The request has no Host header')
      return {
        resource: `${address}${endpointPath(request)}`,
        authorization_servers: [issuer],
        bearer_methods_supported: ['header'],
        resource_name: 'Memory Gateway',
      }
    })
  }
}
