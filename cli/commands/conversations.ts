import type { TObject } from 'typebox'
import { numberOf, recordsOf, textOf, type Answer } from '../answers.js'
import { CommandError } from '../failures.js'
import type { Call } from '../gateway.js'
import { columns, note, writeJson, writeLine } from '../output.js'
import { withServer, type ServerOptions } from '../server-command.js'
import { readText } from '../text-input.js'
import { isJsonObject, parsedJson } from '../../lib/base/json-object.js'
import { messageOf } from '../../lib/base/message-of.js'
import { prepareInput, schemaCheck } from '../../lib/base/schema-check.js'
import { MAX_MESSAGES, SentMessage } from '../../lib/operations/schemas/conversations.js'
// Imported by path, because the package of the gateway contains the built client and does not depend on its package.
import { MemoryGatewayError, type MemoryGatewayClient } from '../../packages/client/src/index.js'

/** Conversations or messages that one request lists. */
const PAGE = 200
/** Of one request, below the default bound of a gateway. */
const MAX_BATCH_BYTES = 2 * 1024 * 1024
/** Below the time of a message. */
const INDENT = ' '.repeat(18)

export async function listConversations (bank: string, options: ServerOptions): Promise<void> {
  await withServer(options, async (gateway, call) => {
    const found: Answer[] = []
    for await (const one of gateway.listConversations({ bank_id: bank, limit: PAGE }, call)) found.push(one)
    if (options.json === true) return await writeJson({ conversations: found })
    if (found.length === 0) return note('the bank has no conversation')
    const rows = found.map((one) => [
      oneLine(textOf(one['conversation_id'])), String(numberOf(one['message_count']) ?? ''),
      textOf(one['last_message_at']) ?? '',
    ])
    for (const line of columns([['CONVERSATION', 'MESSAGES', 'LAST MESSAGE'], ...rows])) await writeLine(line)
  })
}

/** Writes the messages as a chat, the oldest first. */
export async function showConversation (
  bank: string, id: string, options: ServerOptions & { last?: number },
): Promise<void> {
  await withServer(options, async (gateway, call) => {
    const messages = await lastMessages(gateway, bank, id, options.last ?? Infinity, call)
    if (options.json === true) return await writeJson({ messages })
    for (const message of messages) await writeLine(chatLine(message))
    if (messages.length === 0) note('the conversation has no message')
  })
}

async function lastMessages (
  gateway: MemoryGatewayClient, bank: string, id: string, count: number, call: Call,
): Promise<Answer[]> {
  const pages: Answer[][] = []
  let missing = count
  let size = PAGE
  for (let before: string | undefined; missing > 0;) {
    try {
      const limit = Math.min(missing, size)
      const page = await gateway.listMessages({ bank_id: bank, conversation_id: id, limit, before }, call)
      pages.unshift(recordsOf(page.messages))
      missing -= page.messages.length
      if (page.next_cursor === null) break
      if (page.next_cursor === before) throw new CommandError('the server repeats a page of the conversation')
      before = page.next_cursor
    } catch (error) {
      // Long messages, of which fewer fit into one answer.
      if (!(error instanceof MemoryGatewayError) || error.code !== 'answer_too_large' || size === 1) throw error
      size = Math.ceil(size / 2)
    }
  }
  return pages.flat()
}

function chatLine (message: Answer): string {
  const [role, name] = [oneLine(textOf(message['role'])), oneLine(textOf(message['name']))]
  const who = name === '' || name === role ? role : `${name} (${role})`
  const at = (textOf(message['created_at']) ?? '').slice(0, 16).replace('T', ' ').padEnd(16)
  return `${at}  ${who}: ${(textOf(message['content']) ?? '').replaceAll('\n', `\n${INDENT}`)}`
}

/** What stands in a line with others has no line feed of its own. */
function oneLine (text = ''): string {
  return text.replaceAll(/[\n\t]/g, ' ')
}

/** Appends what the conversation does not have, and tells how much that is. */
export async function appendMessages (
  bank: string, id: string, file: string | undefined, options: ServerOptions,
): Promise<void> {
  const { name, text } = await readText(file, 'there are no messages: name a file, or send them to standard input')
  const batches = batchesOf(readMessages(text, name))
  await withServer(options, async (gateway, call) => {
    const done = { stored: 0, repeated: 0, memory_ids: new Array<string | null>(), redactions: new Array<string>() }
    try {
      for (const batch of batches) {
        const messages = batch.map(({ message }) => message)
        const answer = await gateway.appendMessages({ bank_id: bank, conversation_id: id, messages }, call)
          .catch((error: unknown) => { throw withPlaces(error, batch) })
        done.stored += answer.stored
        done.repeated += answer.repeated
        done.memory_ids.push(...answer.memory_ids)
        done.redactions.push(...answer.redactions ?? [])
      }
    } catch (error) {
      if (done.memory_ids.length > 0) note(`${summaryOf(done)} before the error; the same command continues from here`)
      throw error
    }
    if (options.json !== true) return note(summaryOf(done))
    const { redactions, ...counts } = done
    await writeJson({ ...counts, ...redactions.length > 0 && { redactions } })
  })
}

function summaryOf (
  { stored, repeated, memory_ids: { length } }: { stored: number, repeated: number, memory_ids: readonly unknown[] },
): string {
  const others = length - stored - repeated
  const left = others > 0 ? `, ${others} left out (without text, a result of a tool, or forgotten before)` : ''
  return `${stored} stored, ${repeated} already there${left}`
}

/** A message, and its place in the input. */
interface Placed {
  message: SentMessage
  at: string
}

/** The server counts messages within a request. */
function withPlaces (error: unknown, batch: readonly Placed[]): unknown {
  if (!(error instanceof MemoryGatewayError)) return error
  const message = error.message.replaceAll(/\bmessages\[(\d+)\]\.?/g, (found, index: string) => {
    const at = batch[Number(index)]?.at
    return at === undefined ? found : `${at}: `
  })
  return new MemoryGatewayError(error.code, message, error)
}

const MESSAGE: TObject = SentMessage
const checkMessage = schemaCheck(SentMessage)

/**
 * The messages of a JSON array, or one in each line.
 * @throws CommandError, ServiceError that name the place of what is none
 */
function readMessages (text: string, name: string): Placed[] {
  const isList = text.trimStart().startsWith('[')
  const whole = isList ? parsed(text, name) : parsedJson(text)
  const found: Array<{ value: unknown, at: string }> = Array.isArray(whole)
    ? whole.map((value, index) => ({ value, at: `message ${index + 1}` }))
    : isJsonObject(whole)
      ? [{ value: whole, at: 'message 1' }]
      : text.split('\n').flatMap((line, index) => line.trim() === ''
        ? []
        : { value: parsed(line, `${name}: line ${index + 1}`), at: `line ${index + 1}` })
  if (found.length === 0) throw new CommandError(`${name} has no messages`)
  return found.map(({ value, at }) => {
    if (!isJsonObject(value)) throw new CommandError(`${name}: ${at} is not a message such as {"role":…,"content":…}`)
    prepareInput(value, MESSAGE)
    return { message: checkMessage(value, `${name}: ${at}: `), at: `${name}: ${at}` }
  })
}

function parsed (json: string, place: string): unknown {
  try {
    return JSON.parse(json)
  } catch (error) {
    throw new CommandError(`${place} is not JSON: ${messageOf(error)}`)
  }
}

/**
 * The messages of each request. Only with ids can a part be told from one that is stored already, because those without
 * are aligned with the ends of the conversation.
 */
function batchesOf (messages: readonly Placed[]): Placed[][] {
  if (messages.some(({ message: { id } }) => id === undefined)) {
    if (messages.length <= MAX_MESSAGES) return [[...messages]]
    throw new CommandError(`there are ${messages.length} messages, of which some have no id: give each an id that is ` +
      `unique in the conversation, or append at most ${MAX_MESSAGES}, such as the end of the transcript`)
  }
  const batches: Placed[][] = []
  let room = 0
  for (const placed of messages) {
    const bytes = Buffer.byteLength(JSON.stringify(placed.message))
    const batch = batches.at(-1)
    if (batch === undefined || bytes > room || batch.length === MAX_MESSAGES) {
      batches.push([placed])
      room = MAX_BATCH_BYTES - bytes
    } else {
      batch.push(placed)
      room -= bytes
    }
  }
  return batches
}

/** Writes the ids of the memories that were deleted. */
export async function deleteConversation (bank: string, id: string, options: ServerOptions): Promise<void> {
  await withServer(options, async (gateway, call) => {
    const answer = await gateway.deleteConversation({ bank_id: bank, conversation_id: id }, call)
    if (options.json === true) return await writeJson(answer)
    const { deleted_count: count, memory_ids: ids } = answer
    for (const memoryId of ids) await writeLine(memoryId)
    note(`${count} ${count === 1 ? 'message' : 'messages'} deleted`)
  })
}
