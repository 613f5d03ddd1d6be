import type { FastifyPluginAsync } from 'fastify'
import { decodedPath } from '../http/decoded-path.js'
import { addressOf, endpointPath, METADATA_PATH } from '../http/resource-metadata.js'
import { ServiceError } from '../lib/base/service-error.js'

interface ResourceMetadataOptions {
  issuer: string
  /** `mcp.public_url`. */
  publicUrl: string | undefined
}

/**
 * Protected-resource metadata (RFC 9728), from which MCP clients learn where tokens come from. A client that has no
 * challenge looks for it at the host with the path of the endpoint behind the well-known path (section 3.1), so it is
 * also served there when the public URL has a path, which a proxy removes from the other requests.
 */
export const resourceMetadataRoutes: FastifyPluginAsync<ResourceMetadataOptions> = async (
  app, { issuer, publicUrl },
) => {
  const endpoints = ['', '/mcp', '/mcp/banks/:bank_id']
  const paths = ['', publicPath(publicUrl)].flatMap((path) => endpoints.map((endpoint) => `${path}${endpoint}`))
  for (const path of new Set(paths)) {
    app.get(`${METADATA_PATH}${path}`, { config: { scope: 'public' }, schema: { hide: true } }, async (request) => {
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

/** The path of the public URL as the router takes it. Empty if it has none, or one with the wildcard of the router. */
function publicPath (publicUrl: string | undefined): string {
  if (publicUrl === undefined || !URL.canParse(publicUrl)) return ''
  const path = decodedPath(new URL(publicUrl).pathname).replace(/\/+$/, '')
  return path.includes('*') ? '' : path.replaceAll(':', '::')
}
