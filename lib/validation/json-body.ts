import { StringDecoder } from 'node:string_decoder'
import secureJson from 'secure-json-parse'
import { ServiceError } from '../errors/service-error.js'
import { checkJsonText, checkLongJson, isWithin, type JsonBounds } from './json-guard.js'
import { turns } from '../concurrency/turn-budget.js'

/** A body of at most so many bytes is parsed at once, without turns of the event loop. */
export const SHORT_BODY = 65_536

/** Bytes that are decoded at a time, which takes a few milliseconds when they are not ASCII. */
const DECODED = 262_144
/** Objects that are inspected at a time. */
const INSPECTED = 1000

/**
 * Parses the JSON of a body within the bounds, and refuses member names that cause prototype poisoning. A long body is
 * processed in turns of the event loop, except for JSON.parse.
 * @param caller as in TurnBudget.next
 * @returns the value, at once for a short body
 * @throws ServiceError invalid_json, body_too_large
 */
export function readJson (body: Buffer, bounds: JsonBounds, caller: string): unknown {
  if (body.length > SHORT_BODY) return readLongJson(body, bounds, caller)
  if (!isWithin(body, bounds)) checkJsonText(body, bounds)
  try {
    return secureJson.parse(body)
  } catch {
    throw invalid()
  }
}

async function readLongJson (body: Buffer, bounds: JsonBounds, caller: string): Promise<unknown> {
  await checkLongJson(body, bounds, caller)
  return await readCheckedJson(body, caller)
}

/**
 * As readJson(), for a long body whose bytes a JsonGuard has read.
 * @throws ServiceError invalid_json
 */
export async function readCheckedJson (body: Buffer, caller: string): Promise<unknown> {
  const text = await decodeInTurns(body, caller)
  if (turns.isSpent) await turns.next(caller)
  let value: unknown
  try {
    // A byte order mark is ignored, as in secure-json-parse.
    value = JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text)
  } catch {
    throw invalid()
  }
  await refusePrototypePoisoning(value, caller)
  return value
}

/** Decodes UTF-8 in turns of the event loop, because a long body takes long. @param caller as in TurnBudget.next */
async function decodeInTurns (body: Buffer, caller: string): Promise<string> {
  const decoder = new StringDecoder('utf8')
  let text = ''
  for (let from = 0; from < body.length; from += DECODED) {
    if (turns.isSpent) await turns.next(caller)
    text += decoder.write(body.subarray(from, from + DECODED))
  }
  return text + decoder.end()
}

/** Refuses what secure-json-parse refuses, in turns of the event loop. */
async function refusePrototypePoisoning (value: unknown, caller: string): Promise<void> {
  const open: object[] = isObject(value) ? [value] : []
  for (let seen = 0; open.length > 0; seen++) {
    if (seen % INSPECTED === 0 && turns.isSpent) await turns.next(caller)
    const node = open.pop()!
    if (!Array.isArray(node) && isPoisoned(node)) throw invalid()
    for (const member of Object.values(node) as unknown[]) if (isObject(member)) open.push(member)
  }
}

function isPoisoned (node: object): boolean {
  if (Object.hasOwn(node, '__proto__')) return true
  if (!Object.hasOwn(node, 'constructor')) return false
  const { constructor: member } = node as { constructor: unknown }
  return isObject(member) && Object.hasOwn(member, 'prototype')
}

function isObject (value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function invalid (): ServiceError {
  return new ServiceError('invalid_json', 'Request body is not valid JSON')
}
