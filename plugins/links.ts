import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

/** An entry point of the gateway for people or programs. */
interface Link {
  /** The name of its member in the JSON at `/`. */
  name: string
  /** Without the prefix of a gateway that is part of another app. */
  path: string
  /** The text of the link on the page at `/`. */
  title: string
  /** Whether only programs can use it, so that the page names its path without a link. Default false. */
  isForPrograms?: boolean
}

declare module 'fastify' {
  interface FastifyInstance {
    /** The links of `GET /` in order. Each plugin adds its own. None may reveal the configuration. */
    links: Link[]
  }
}

async function links (app: FastifyInstance): Promise<void> {
  app.decorate('links', [])
}

export default fp(links, { name: 'links', fastify: '5.x' })
