import { isUtf8 } from 'node:buffer'
import { ServiceError } from '../errors/service-error.js'
import { objectsIn, parseSafely, reasonOf, refuseForbiddenMember } from './forbidden-members.js'
import { checkJsonText, checkLongJson, isSurelyWithin, type JsonBounds } from './json-guard.js'
import { LongJson } from './long-json.js'
import { markRoundedIntegers } from './rounded-integers.js'
import { runInTurns, runSync } from '../concurrency/steps.js'
import { turns } from '../concurrency/turn-budget.js'

/** A body of at most this many bytes is parsed at once, without turns of the event loop. */
export const SHORT_BODY = 65_536

/** Values that are inspected at a time; an object with more of them is inspected at once. */
const VALUES_PER_BATCH = 1000

/**
 * Parses the JSON of a body within the bounds, and refuses member names that cause prototype poisoning. Integers of
 * metadata that cannot be represented are marked, for its validation. A long body is processed in turns of the event
 * loop.
 * @param caller as in TurnBudget.next
 * @returns the value, at once for a short body
 * @throws ServiceError invalid_json, body_too_large
 */
export function readJson (body: Buffer, bounds: JsonBounds, caller: string): unknown {
  if (body.length > SHORT_BODY) return readLongJson(body, bounds, caller)
  if (!isSurelyWithin(body, bounds)) checkJsonText(body, bounds)
  refuseOtherEncoding(body)
  try {
    return parseSafely(runSync(markRoundedIntegers(body)))
  } catch (error) {
    throw invalid(error)
  }
}

async function readLongJson (body: Buffer, bounds: JsonBounds, caller: string): Promise<unknown> {
  await checkLongJson(body, bounds, caller)
  return await readCheckedJson(body, caller)
}

/**
 * As readJson(), for a long body whose bytes a JsonGuard has read.
 * @throws ServiceError invalid_json, body_too_large
 */
export async function readCheckedJson (body: Buffer, caller: string): Promise<unknown> {
  refuseOtherEncoding(body)
  try {
    const value = await new LongJson(await runInTurns(markRoundedIntegers(body), caller), caller).parse()
    await refusePrototypePoisoning(value, caller)
    return value
  } catch (error) {
    throw error instanceof SyntaxError ? invalid(error) : error
  }
}

/** Decoding replaces bytes that are not UTF-8 by U+FFFD, so another text than that of the client would be stored. */
function refuseOtherEncoding (body: Buffer): void {
  if (!isUtf8(body)) throw new ServiceError('invalid_json', 'Request body is not valid UTF-8')
}

/** Refuses what secure-json-parse refuses, in turns of the event loop. @throws ForbiddenMember */
async function refusePrototypePoisoning (value: unknown, caller: string): Promise<void> {
  const seen = { values: 0 }
  for (const node of objectsIn(value, seen)) {
    refuseForbiddenMember(node)
    if (seen.values < VALUES_PER_BATCH) continue
    seen.values = 0
    if (turns.isExhausted) await turns.next(caller)
  }
}

function invalid (error: unknown): ServiceError {
  return new ServiceError('invalid_json', `Request body ${reasonOf(error)}`)
}
