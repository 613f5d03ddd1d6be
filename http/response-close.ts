import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'

/** @param sent whether the whole response was sent */
type CloseListener = (sent: boolean) => void

/** All listeners of a response share one event listener, because Node warns of a leak at the eleventh. */
const listenersOf = new WeakMap<ServerResponse, CloseListener[]>()

/**
 * Calls `listener` once, when the response is closed, or at once when it is closed already. Unlike the hook
 * onResponse, it also runs when the client disconnects before the whole response is sent.
 */
export function onResponseClose ({ raw }: FastifyReply, listener: CloseListener): void {
  if (raw.destroyed) {
    listener(raw.writableFinished)
    return
  }
  const known = listenersOf.get(raw)
  if (known !== undefined) {
    known.push(listener)
    return
  }
  const listeners = [listener]
  listenersOf.set(raw, listeners)
  let sent = false
  raw.once('finish', () => { sent = true })
  raw.once('close', () => { for (const each of listeners) each(sent) })
}
