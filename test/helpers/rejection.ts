import { inspect } from 'node:util'

/** The error that `work` rejects with. Throws when it resolves, or rejects with something of another type. */
export async function rejection<E extends Error> (
  type: abstract new (...parameters: never[]) => E, work: Promise<unknown>,
): Promise<E> {
  const reason = await work.then((value) => `nothing, for it resolved to ${inspect(value)}`, (error: unknown) => error)
  if (!(reason instanceof type)) throw new Error(`Expected a rejection with ${type.name}, got ${inspect(reason)}`)
  return reason
}
