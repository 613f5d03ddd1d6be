import type { FastifyRequest } from 'fastify'

/** @returns the parameter of the path; undefined on a route without it */
export function pathParameter ({ params }: FastifyRequest, name: string): unknown {
  return typeof params === 'object' && params !== null ? Reflect.get(params, name) : undefined
}
