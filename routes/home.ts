import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { prefers } from '../http/accept.js'
import { addVary } from '../http/vary.js'

const NAME = 'Memory Gateway'
const HTML = 'text/html'
const ICON = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" ' +
  'fill="#3a4fbf"/><path d="M8 23V9l8 8 8-8v14" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" ' +
  'stroke-linejoin="round"/></svg>'

/** In the colours of the console, light and dark. */
const STYLE = `
:root { color-scheme: light dark; --muted: light-dark(#4c5365, #aeb5c6); --accent: light-dark(#3346b3, #a9b6ff); }
body {
  margin: 0; font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
  background: light-dark(#f6f7fa, #14161c); color: light-dark(#171a22, #e8eaf0);
}
main { max-width: 640px; margin: 0 auto; padding: clamp(24px, 8vh, 96px) 16px 48px; }
header { display: flex; gap: 14px; align-items: center; }
h1 { margin: 0; font-size: 1.6rem; line-height: 1.25; }
img { width: 48px; height: 48px; }
p { margin: 12px 0; }
.version, li code { color: var(--muted); }
.version { margin: 0; font-size: 0.88rem; }
a { color: var(--accent); text-underline-offset: 2px; }
:focus-visible { outline: 3px solid light-dark(#1d2f9e, #ffd45e); outline-offset: 2px; border-radius: 3px; }
code { font: 0.92em ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace; }
ul {
  list-style: none; margin: 24px 0; padding: 4px 16px; border: 1px solid light-dark(#cdd2de, #3a4050);
  border-radius: 8px; background: light-dark(#ffffff, #1c1f28);
}
li { padding: 10px 0; overflow-wrap: anywhere; }
li + li { border-top: 1px solid light-dark(#cdd2de, #3a4050); }
li > :first-child { font-weight: 600; }
li code { display: block; }
`

/** The page may load its own icon and its own style, and nothing else. */
const POLICY = [
  "default-src 'none'",
  "img-src 'self'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

interface HomeOptions {
  version: string
}

const config = { scope: 'public' } as const
const schema = { hide: true } as const

/** GET /: links to the parts of the gateway, as JSON for programs and as a page for browsers; and the icon of both. */
export async function homeRoutes (app: FastifyInstance, { version }: HomeOptions): Promise<void> {
  // The lists are made when the gateway is ready: plugins that are registered later add their links.
  let json = ''
  let page = ''
  app.addHook('onReady', async () => {
    const links = app.links.map((link) => ({ ...link, path: `${app.prefix}${link.path}` }))
    const paths = Object.fromEntries(links.map(({ name, path }) => [name, path]))
    json = JSON.stringify({ name: NAME, version, links: paths })
    page = pageOf(version, links, `${app.prefix}/favicon.svg`)
  })
  app.get('/', { config, schema }, async (request, reply) => {
    addVary(reply, 'Accept')
    if (!prefers(request.headers.accept, HTML)) {
      return await reply.type('application/json; charset=utf-8').send(json)
    }
    return await reply
      .type(`${HTML}; charset=utf-8`)
      .headers({ 'content-security-policy': POLICY, 'x-content-type-options': 'nosniff' })
      .send(page)
  })
  app.get('/favicon.svg', { config, schema }, async (_request, reply) => (
    await reply
      .type('image/svg+xml')
      // Opened by itself, the image is a document: it may do nothing.
      .headers({
        'cache-control': 'public, max-age=86400',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
      })
      .send(ICON)
  ))
}

/** Pages first, in the order in which a person needs them; then what programs use. */
const FIRST_LINKS = ['console', 'docs', 'health']

/** @param links from the code, so that nothing in them has to be escaped */
function pageOf (version: string, links: FastifyInstance['links'], icon: string): string {
  const rank = ({ name }: { name: string }) => {
    const index = FIRST_LINKS.indexOf(name)
    return index === -1 ? FIRST_LINKS.length : index
  }
  const items = links.toSorted((a, b) => rank(a) - rank(b)).map(({ path, title, isForPrograms = false }) => (
    `<li>${isForPrograms ? `<b>${title}</b>` : `<a href="${path}">${title}</a>`} <code>${path}</code></li>`
  ))
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${NAME}</title>
<link rel="icon" type="image/svg+xml" href="${icon}">
<style>${STYLE}</style>
</head>
<body>
<main>
<header>
<img src="${icon}" alt="">
<div>
<h1>${NAME}</h1>
<p class="version">Version ${version}</p>
</div>
</header>
<p>A memory for AI agents, over HTTP. It keeps what was said word for word, finds it again, and tells it with its
source.</p>
<ul>
${items.join('\n')}
</ul>
</main>
</body>
</html>
`
}
