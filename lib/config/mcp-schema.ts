import { Type } from 'typebox'
import { flag, integer, text } from './schema-parts.js'
import { sectionOfSettings, setting } from '../validation/defaults.js'

const LABEL = '[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?'
const HOST = `(?:${LABEL}(?:\\.${LABEL})*|\\[[0-9A-Fa-f:.]+\\])`

/** The endpoint of the Model Context Protocol: docs/mcp.md. */
export const McpSchema = sectionOfSettings({
  enabled: setting(flag('Whether the endpoint of the Model Context Protocol is served at /mcp. The auth mode, access ' +
    'control and limits of the other routes apply to it.'), true),
  answer_tokens: setting(integer('Maximum tokens (o200k_base) of an answer. A longer answer is cut and marked as ' +
    'truncated.', 1000, 1_000_000), 8000),
  batch_messages: setting(integer('Maximum number of messages in a JSON-RPC batch, which clients of the revision ' +
    '2025-03-26 may send. The messages are executed one after the other.', 1, 1000), 16),
  public_url: Type.Optional(text('^https?://[^\\s?#"\\\\]+$', 'that is an http or https URL without query',
    'URL of the gateway as clients know it, without /mcp. In auth mode jwt_oidc, the protected-resource metadata ' +
    'contains it. Default: http and the Host header of the request, which is wrong behind a proxy that terminates ' +
    'TLS.')),
  allowed_hosts: Type.Optional(Type.Array(text(`^(?:\\*\\.)?${HOST}$`, 'that is a host name without a port',
    'A host name; a leading `*.` matches any subdomain.'), {
    description: 'Host names under which /mcp accepts requests, in addition to loopback names; other requests get ' +
      '403. Default: any. In dev mode, SERVICES_ALLOWED_HOSTS applies as well.',
  })),
  allowed_origins: setting(Type.Array(text(`^(?:[a-z][a-z0-9+.-]*://\\*|${HOST.replaceAll('A-Z', '')})$`,
    'that is a host name in lower case without a port, or the scheme of browser extensions with ://*',
    'A host name in lower case, without scheme and port.'), {
    description: 'Host names of web pages that may send requests to /mcp (Origin header), in addition to loopback ' +
      'names and that of `public_url`; others get 403. Clients other than browsers send no Origin header.',
  }), [], 'Default: none.'),
}, 'The endpoint of the Model Context Protocol: [mcp.md](mcp.md). Read only at startup.')
