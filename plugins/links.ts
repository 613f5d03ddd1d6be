import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

/** Something that the gateway serves and that people and programs look for. */
export interface Link {
  /** The member of the JSON at `/` that has its path. */
  name: string
  /** Without the prefix of a gateway that is part of another app. */
  path: string
  /** What people find there. */
  title: string
}

declare module 'fastify' {
  interface FastifyInstance {
    /** What `GET /` leads to, in this order. A plugin adds what it serves. Nothing in it tells of the configuration. */
    links: Link[]
  }
}

async function links (app: FastifyInstance): Promise<void> {
  app.decorate('links', [])
}

export default fp(links, { name: 'links', fastify: '5.x' })
