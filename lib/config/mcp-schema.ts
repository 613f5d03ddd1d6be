import { Type } from 'typebox'
import { flag, integer, sectionOfSettings, setting, text } from './schema-parts.js'

const LABEL = '[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?'
const HOST = `(?:${LABEL}(?:\\.${LABEL})*|\\[[0-9A-Fa-f:.]+\\])`

/** The endpoint of the Model Context Protocol: docs/mcp.md. */
export const McpSchema = sectionOfSettings({
  enabled: setting(flag('Whether there is an endpoint of the Model Context Protocol at /mcp. It lies behind the auth ' +
    'mode and has the access control and the limits of the other routes.'), true),
  answer_tokens: setting(integer('Tokens (o200k_base) that an answer may have; longer ones are cut and say so.',
    1000, 1_000_000), 8000),
  batch_messages: setting(integer('Messages in one JSON-RPC batch, which clients of the revision 2025-03-26 may ' +
    'send. They are executed one after the other.', 1, 1000), 16),
  public_url: Type.Optional(text('^https?://[^\\s?#"\\\\]+$', 'that is an http or https URL without query',
    'Address of the gateway as clients know it, without /mcp. In auth mode jwt_oidc it stands in the ' +
    'protected-resource metadata. Default: http and the Host header of the request, which is wrong behind a proxy ' +
    'that ends TLS.')),
  allowed_hosts: Type.Optional(Type.Array(text(`^(?:\\*\\.)?${HOST}$`, 'that is a host name without a port',
    'A host name; `*.` in front stands for any name below it.'), {
    description: 'Host names under which /mcp may be asked, besides loopback names; other requests get 403. Default: ' +
      'any. In dev mode SERVICES_ALLOWED_HOSTS holds as well.',
  })),
  allowed_origins: setting(Type.Array(text(`^(?:[a-z][a-z0-9+.-]*://\\*|${HOST.replaceAll('A-Z', '')})$`,
    'that is a host name in lower case without a port, or the scheme of browser extensions with ://*',
    'A host name in lower case, without scheme and port.'), {
    description: 'Host names of web pages that may send requests to /mcp (the Origin header), besides loopback names ' +
      'and that of `public_url`; others get 403. Clients that are no browsers send no Origin.',
  }), [], 'Default none.'),
}, 'The endpoint of the Model Context Protocol: [mcp.md](mcp.md). Only a start reads it.')
