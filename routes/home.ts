import type { FastifyInstance } from 'fastify'
import { prefers } from '../http/accept.js'
import { addVary } from '../http/vary.js'

const NAME = 'Memory Gateway'
const HTML = 'text/html'

interface HomeOptions {
  version: string
}

/** GET /: links to the parts of the gateway, as JSON for programs and as a page for browsers. */
export async function homeRoutes (app: FastifyInstance, { version }: HomeOptions): Promise<void> {
  // The lists are made when the gateway is ready: plugins that are registered later add their links.
  let json = ''
  let page = ''
  app.addHook('onReady', async () => {
    const links = app.links.map((link) => ({ ...link, path: `${app.prefix}${link.path}` }))
    const paths = Object.fromEntries(links.map(({ name, path }) => [name, path]))
    json = JSON.stringify({ name: NAME, version, links: paths })
    page = pageOf(version, links)
  })
  app.get('/', { config: { scope: 'public' }, schema: { hide: true } }, async (request, reply) => {
    addVary(reply, 'Accept')
    if (!prefers(request.headers.accept, HTML)) {
      return await reply.type('application/json; charset=utf-8').send(json)
    }
    return await reply
      .type(`${HTML}; charset=utf-8`)
      .header('content-security-policy', "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; " +
        "form-action 'none'")
      .header('x-content-type-options', 'nosniff')
      .send(page)
  })
}

/** @param links from the code, so that nothing in them has to be escaped */
function pageOf (version: string, links: FastifyInstance['links']): string {
  const items = links.map(({ path, title, isForPrograms = false }) => (
    `  <li>${isForPrograms ? `<code>${path}</code>` : `<a href="${path}">${path}</a>`}: ${title}</li>`
  ))
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${NAME}</title>
</head>
<body>
<h1>${NAME}</h1>
<p>Version ${version}: memory for AI agents over HTTP.</p>
<ul>
${items.join('\n')}
</ul>
</body>
</html>
`
}
