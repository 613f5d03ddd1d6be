import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { acceptedCoding } from '../http/accept.js'
import { addVary } from '../http/vary.js'
import type { AuthMode, Settings } from '../lib/config/config.js'
import { packageFile } from '../lib/base/package-file.js'

interface ConsoleOptions {
  mode: AuthMode | 'host'
  /** The identity provider of mode jwt_oidc. */
  issuer: string | undefined
  oidc: Settings['console']['oidc']
  /** Whether the admin routes require a token. */
  hasAdminToken: boolean
  version: string
}

/** The settings that the pages need before sign-in. They are public, so none is a secret. */
interface ConsoleConfig {
  auth_mode: ConsoleOptions['mode']
  admin_token: boolean
  version: string
  oidc?: { issuer: string, client_id: string, scope: string, token: string, parameters: Record<string, string> }
}

interface Asset {
  type: string
  /** By content coding. */
  bodies: { identity: Buffer, br: Buffer | undefined, gzip: Buffer | undefined }
  /** The entity tag of the content; a content coding is appended to it. */
  hash: string
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}
const IMMUTABLE = 'public, max-age=31536000, immutable'
const REVALIDATED = 'no-cache'

const config = { scope: 'public' } as const
const schema = { hide: true } as const

/**
 * Serves the built console at /console. Its few files are read once at the start, so no part of a request becomes a
 * path.
 */
async function consolePages (app: FastifyInstance, options: ConsoleOptions): Promise<void> {
  app.links.push({ name: 'console', path: '/console/', title: 'Console: what is remembered, and why' })
  const folder = packageFile('dist/console')
  if (!existsSync(join(folder, 'index.html'))) {
    throw new Error('The console is enabled and dist/console is missing: `npm run build` makes it')
  }
  const security = securityHeaders(options)
  const settings = assetOf('.json', Buffer.from(JSON.stringify(consoleConfig(options))))
  const index = readAsset(folder, 'index.html')
  const send = (asset: Asset, caching: string) => async (request: FastifyRequest, reply: FastifyReply) => {
    reply.headers(security)
    return answer(asset, caching, request, reply)
  }

  // Relative, so that a proxy may serve the gateway below a path of its own.
  app.get('/console', { config, schema }, async (_request, reply) => await reply.redirect('console/', 308))
  app.get('/console/', { config, schema }, send(index, REVALIDATED))
  app.get('/console/:page', { config, schema }, send(index, REVALIDATED))
  app.get('/console/config.json', { config, schema }, send(settings, REVALIDATED))
  for (const name of readdirSync(join(folder, 'assets')).filter((file) => extname(file) in TYPES)) {
    app.get(`/console/assets/${name}`, { config, schema }, send(readAsset(folder, `assets/${name}`), IMMUTABLE))
  }
}

function answer (asset: Asset, caching: string, { headers }: FastifyRequest, reply: FastifyReply) {
  const { bodies } = asset
  const available = (['br', 'gzip'] as const).filter((coding) => bodies[coding] !== undefined)
  const coding = acceptedCoding(headersOf(headers['accept-encoding']), available)
  const etag = `"${asset.hash}${coding === undefined ? '' : `-${coding}`}"`
  addVary(reply, 'Accept-Encoding')
  reply.headers({ etag, 'cache-control': caching, 'content-type': asset.type })
  if (matches(headers['if-none-match'], etag)) return reply.code(304).send()
  if (coding !== undefined) reply.header('content-encoding', coding)
  return reply.send(bodies[coding ?? 'identity'])
}

function headersOf (value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(',') : value
}

function matches (header: string | undefined, etag: string): boolean {
  return header !== undefined && header.split(',').some((one) => one.trim().replace(/^W\//, '') === etag)
}

function readAsset (folder: string, name: string): Asset {
  const path = join(folder, name)
  const variant = (suffix: string) => existsSync(path + suffix) ? readFileSync(path + suffix) : undefined
  return assetOf(extname(name), readFileSync(path), variant('.br'), variant('.gz'))
}

function assetOf (extension: string, identity: Buffer, br?: Buffer, gzip?: Buffer): Asset {
  return {
    type: TYPES[extension] ?? 'application/json; charset=utf-8',
    bodies: { identity, br, gzip },
    // A hash, because every file of an npm package has the same modification time.
    hash: createHash('sha256').update(identity).digest('base64url').slice(0, 22),
  }
}

function consoleConfig ({ mode, issuer, oidc, hasAdminToken, version }: ConsoleOptions): ConsoleConfig {
  const base = { auth_mode: mode, admin_token: hasAdminToken, version }
  if (mode !== 'jwt_oidc' || oidc === undefined || issuer === undefined) return base
  const { client_id: clientId, scope, token, parameters } = oidc
  return { ...base, oidc: { issuer, client_id: clientId, scope, token, parameters } }
}

/** Restricts scripts, styles and requests to the gateway itself, and also allows requests to the identity provider. */
function securityHeaders ({ mode, issuer, oidc }: ConsoleOptions): Record<string, string> {
  const provider = mode !== 'jwt_oidc' || oidc === undefined || issuer === undefined
    ? []
    : [new URL(issuer).origin, ...(oidc.origins ?? [])]
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    ['connect-src', "'self'", ...provider].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]
  return {
    'content-security-policy': policy.join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  }
}

export default fp(consolePages, { name: 'console', fastify: '5.x', dependencies: ['route-scopes', 'links'] })
