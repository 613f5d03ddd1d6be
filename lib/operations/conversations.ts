import { hash } from 'node:crypto'
import { giveWay, isDue } from '../base/event-loop.js'
import { isUuid } from '../base/ids.js'
import { withoutUndefined } from '../base/members.js'
import { formatInstant } from '../base/clock.js'
import { atCapacity, invalidField, ServiceError } from '../base/service-error.js'
import { speakerProblem, trimSpeaker } from '../stores/speaker.js'
import {
  type ListFilters, type ListRequest, type Memory, MemoryChangedError, type MessageFields, type RemoveOutcome,
} from '../stores/vector-store.js'
import type { Admission } from './admission.js'
import { pageSize } from './bank-browser.js'
import type { OpenBank } from './bank-directory.js'
import { APPEND_TOOL, MESSAGES_TOOL } from './conversation-view.js'
import { decodeCursor, encodeCursor, isConversationPlace, isMemoryPlace } from './cursor.js'
import type { Call, Dependencies } from './dependencies.js'
import { scheduleExtraction } from './extraction.js'
import { idempotentWrite, isCommitted, type KeyedWrite, type WriteResult } from './idempotency.js'
import { LIMIT_ERRORS, operation } from './operation.js'
import { type CheckedItem, checkItem, checkText, fingerprintOf, isInstruction, prepare } from './preparation.js'
import { writeProposed } from './proposals.js'
import { refusalOf } from './refusals.js'
import {
  AppendMessagesAnswer, AppendMessagesRequest, BankId, ConversationsAnswer, DeleteConversationRequest,
  DeletedMessages, MAX_MESSAGES, MessagesAnswer, MessagesRequest, pageFields, PoppedMessages, PopMessagesRequest,
  type SentMessage, strict,
} from './schemas.js'

const ListConversationsRequest = strict({ bank_id: BankId, ...pageFields })

export const appendMessages = operation({
  name: 'appendMessages',
  tag: 'conversations',
  permission: 'write',
  summary: 'Append messages to a conversation, each once',
  description: 'Stores each message that the conversation does not have as a memory whose `document_id` is the id of ' +
    'the conversation: all of them or none. A transcript may be sent whole each time, or only what is new. With ' +
    '`id`, the same id and content is a repeat. Without, the messages are aligned with the end of the conversation, ' +
    'or with its beginning, and the longest overlap is repeats. So a client that sends only what is new, and may say ' +
    'the same again, gives ids. Instructions (`system`, `developer`) are stored once in a conversation.',
  request: AppendMessagesRequest,
  answer: AppendMessagesAnswer,
  errors: [...LIMIT_ERRORS, 'message_conflict', 'model_output_invalid', 'not_supported', 'server_busy'],
  idempotent: true,
  tool: APPEND_TOOL,
  run: append,
})

export const listMessages = operation({
  name: 'listMessages',
  tag: 'conversations',
  permission: 'read',
  summary: 'List the messages of a conversation',
  description: 'The newest messages, or those before or after a place; oldest first within a page. A conversation ' +
    'that does not exist is empty.',
  request: MessagesRequest,
  answer: MessagesAnswer,
  errors: ['answer_too_large', 'not_supported'],
  tool: MESSAGES_TOOL,
  run: messagesOf,
})

export const listConversations = operation({
  name: 'listConversations',
  tag: 'conversations',
  permission: 'read',
  summary: 'List the conversations of a bank',
  request: ListConversationsRequest,
  answer: ConversationsAnswer,
  errors: ['not_supported'],
  run: conversationsOf,
})

export const popMessages = operation({
  name: 'popMessages',
  tag: 'conversations',
  permission: 'forget',
  summary: 'Delete the last messages of a conversation',
  description: 'Counts as a forget. What is sent again afterwards is stored again.',
  request: PopMessagesRequest,
  answer: PoppedMessages,
  errors: [...LIMIT_ERRORS, 'answer_too_large', 'not_supported'],
  idempotent: true,
  run: pop,
})

export const deleteConversation = operation({
  name: 'deleteConversation',
  tag: 'conversations',
  permission: 'forget',
  summary: 'Delete a conversation',
  description: 'Deletes its messages. Other memories of a document of the same id stay. Counts as a forget.',
  request: DeleteConversationRequest,
  answer: DeletedMessages,
  errors: [...LIMIT_ERRORS, 'not_supported'],
  run: removeConversation,
})

/** Maximum number of plans of one append; each but the last was overtaken by another append to the conversation. */
const MAX_PLANS = 10
/** Maximum number of messages that one read of a store returns. */
const READ_MESSAGES = 500
/**
 * The end of a transcript may arrive after a longer one. So many turns further back it is looked for, if it has enough
 * turns that nobody says the same again.
 */
const LATE_TURNS = 100
const MIN_LATE_TURNS = 3
/** The types of parts whose texts are kept, in the forms of several APIs. */
const TEXT_PARTS: ReadonlySet<string> = new Set(['text', 'input_text', 'output_text'])
const TOOL_ROLES = /^(?:tool|function)$/i

/** A message to append. */
interface Sent extends Omit<MessageFields, 'position'> {
  /** Its path in errors. */
  readonly at: string
  readonly item: CheckedItem
}

/** What a conversation has of a message: its memory, or only the place of one that was forgotten. */
type Found = Memory | 'forgotten' | undefined

interface ConversationPlace {
  bank: OpenBank
  conversationId: string
}

interface Append extends ConversationPlace {
  /** Undefined for a message that is not stored. */
  sent: ReadonlyArray<Sent | undefined>
  call: Call
  keyed: KeyedWrite | undefined
}

/**
 * @throws ServiceError invalid_request that names the message; message_conflict; rate_limited, quota_exceeded;
 * server_busy when other appends overtake this one again and again
 */
async function append (
  deps: Dependencies, { bank_id: bankId, conversation_id: conversationId, messages }: AppendMessagesRequest, call: Call,
): Promise<AppendMessagesAnswer> {
  const { context, idempotency } = call
  const bank = await deps.directory.openOne(context, 'write', bankId)
  requireConversations(deps)
  return await deps.idempotency.runOnce(idempotency, context, bank.key, answerOf, async (keyed) => {
    const sent: Array<Sent | undefined> = []
    for (const [index, message] of messages.entries()) {
      if (isDue()) await giveWay()
      sent.push(readMessage(message, bank, conversationId, `messages[${index}].`))
    }
    return await appendOnce(deps, { bank, conversationId, sent, call, keyed })
  })
}

function answerOf ({ context }: WriteResult<AppendMessagesAnswer, null>): AppendMessagesAnswer {
  return context
}

/** Appends what is new. Repeats cost nothing in limits, but the request counts as one item at least. */
async function appendOnce (deps: Dependencies, append: Append): Promise<WriteResult<AppendMessagesAnswer, null>> {
  const { bank, call } = append
  const admitted: Admission[] = [await deps.admission.admit('retain', call, [bank])]
  try {
    for (let plans = 0; plans < MAX_PLANS; plans++) {
      const plan = await planAppend(deps, append)
      const others = plan.added.length - 1
      if (plans === 0 && others > 0) admitted.push(await deps.admission.admit('retain', call, [bank], others))
      try {
        return await writePlan(deps, plan, append)
      } catch (error) {
        // Another append has stored one of the messages since the conversation was read.
        if (!(error instanceof MemoryChangedError)) throw error
      }
    }
    throw atCapacity('server_busy', 'Others append to this conversation all the time; try again')
  } catch (error) {
    if (isCommitted(error)) deps.indexer.scheduleVectors(bank.key, undefined)
    else for (const admission of admitted) admission.release()
    throw refusalOf(error)
  }
}

interface AppendPlan {
  added: ReadonlyArray<{ item: CheckedItem, memoryId: string, retainedAt: number }>
  /** Of each message that was sent. */
  memoryIds: ReadonlyArray<string | null>
  repeated: number
}

async function planAppend (deps: Dependencies, append: Append): Promise<AppendPlan> {
  const { clock, newId } = deps
  const stored = await readEnd(deps, append)
  const found = await findStored(deps, stored, append)
  const added: Array<AppendPlan['added'][number]> = []
  /** Of the messages that may stand in a request twice. */
  const earlier = new Map<string, Sent & { memoryId: string }>()
  // Later than all that is there, so that the order of the conversation is that in which its messages were retained.
  const retainedAt = Math.max(clock(), (stored.newest?.retainedAt ?? -Infinity) + 1)
  let position = stored.end
  let repeated = 0
  const memoryIds = append.sent.map((one, index): string | null => {
    if (one === undefined) return null
    const known = found[index]
    const key = one.id ?? (isInstruction(one) ? ` ${one.digest}` : undefined)
    const twin = key === undefined ? undefined : earlier.get(key)
    if (twin !== undefined) requireSame(one, twin)
    if (known !== undefined || twin !== undefined) {
      repeated++
      return twin?.memoryId ?? (known === 'forgotten' ? null : known!.memoryId)
    }
    const { at: _at, item, ...message } = one
    const memoryId = newId()
    added.push({ item: { ...item, message: { ...message, position } }, memoryId, retainedAt })
    if (key !== undefined) earlier.set(key, { ...one, memoryId })
    if (!isInstruction(one)) position++
    return memoryId
  })
  return { added, memoryIds, repeated }
}

/** @throws MemoryChangedError when the conversation has one of the messages meanwhile */
async function writePlan (
  deps: Dependencies, { added, memoryIds, repeated }: AppendPlan, { bank, sent, call, keyed }: Append,
): Promise<WriteResult<AppendMessagesAnswer, null>> {
  const { store, indexer, clock, live } = deps
  const { key, settings } = bank
  const trust = live.current.trust.of(call.context)
  const changedBy = call.context.principal ?? null
  const redactions = sent.flatMap((one) => one?.item.redactions.map((name) => `${one.at}${name}`) ?? [])
  const answer: AppendMessagesAnswer = {
    stored: added.length,
    repeated,
    memory_ids: [...memoryIds],
    ...redactions.length > 0 && { redactions },
  }
  const idempotency = idempotentWrite(keyed, answer)
  const all = await prepare(added.map((memory) => ({ ...memory, trust, changedBy })), call.signal)
  return await writeProposed(deps, bank, all, async (prepared) => {
    const memories = await indexer.index(prepared, settings.retrieval.chunk_max_characters, call.signal)
    call.signal?.throwIfAborted()
    // With a key the store is called even for no memories, because it keeps the record of the key.
    if (memories.length > 0 || idempotency !== undefined) {
      await scheduleExtraction(deps, settings, async (extract) => (
        await store.insert(key, memories, { now: clock(), idempotency, signal: call.signal, expectNew: true, extract })
      ))
      indexer.scheduleVectors(key, memories)
    }
    return { context: answer, outcome: null }
  })
}

/** Checks a message. @returns undefined for one that is not stored */
function readMessage (message: SentMessage, bank: OpenBank, conversationId: string, at: string): Sent | undefined {
  const content = textOf(message, at)
  if (content === undefined) return undefined
  const { id, created_at: occurredAt, metadata } = message
  const role = trimSpeaker(message.role)
  const name = message.name === undefined ? undefined : trimSpeaker(message.name)
  for (const [field, text] of Object.entries({ role, name, id })) {
    if (text === undefined) continue
    const problem = checkText(text) ?? (field === 'id' ? undefined : speakerProblem(text))
    if (problem !== undefined) throw invalidField(`${at}${field}`, problem)
  }
  const item = checkItem(withoutUndefined({
    content, metadata, occurred_at: occurredAt, document_id: conversationId, speaker: name ?? role,
  }), bank, at)
  const digest = hash('sha256', JSON.stringify([role, name ?? null, item.text]), 'base64url')
  return { at, item, role, ...withoutUndefined({ name, id }), digest }
}

/** The text of a message. @throws ServiceError invalid_request for a message with nothing in it */
function textOf ({ role, content, tool_calls: calls = [] }: SentMessage, at: string): string | undefined {
  if (TOOL_ROLES.test(trimSpeaker(role))) return undefined
  const parts = typeof content === 'object' ? content : []
  const text = typeof content === 'string'
    ? content
    : parts.flatMap(({ type, text = '' }) => TEXT_PARTS.has(type) ? text : []).join('\n')
  if (text.trim() !== '') return text
  if (calls.length > 0 || parts.some(({ type }) => !TEXT_PARTS.has(type))) return undefined
  throw invalidField(`${at}content`, content === undefined ? 'is required' : 'must have text')
}

/** Messages of a conversation that were read from its ends. */
class StoredMessages {
  readonly #byPosition = new Map<number, Memory[]>()
  readonly #byKey = new Map<string, Memory>()
  newest: Memory | undefined
  /** The position after the last turn. */
  end = 0
  /** Whether it is all that the conversation has. */
  isWhole = false

  add (memory: Memory, message: MessageFields): void {
    const { id, digest, position } = message
    if (this.newest === undefined || memory.retainedAt > this.newest.retainedAt) this.newest = memory
    if (id !== undefined) this.#byKey.set(`id ${id}`, memory)
    if (isInstruction(message)) {
      this.end = Math.max(this.end, position)
      if (id === undefined) this.#byKey.set(`text ${digest}`, memory)
      return
    }
    this.end = Math.max(this.end, position + 1)
    const others = this.#byPosition.get(position)
    if (others === undefined) this.#byPosition.set(position, [memory])
    else if (!others.some(({ memoryId }) => memoryId === memory.memoryId)) others.push(memory)
  }

  /** The message with this id, or the instruction with this text. */
  find ({ id, digest }: Sent): Memory | undefined {
    return this.#byKey.get(id === undefined ? `text ${digest}` : `id ${id}`)
  }

  /** What stands at a position: more than one where two appended at once. */
  at (position: number): readonly Memory[] {
    return this.#byPosition.get(position) ?? []
  }

  /** The positions from this one on at which something stands, in order. */
  positionsFrom (start: number): number[] {
    return [...this.#byPosition.keys()].filter((position) => position >= start).sort((a, b) => a - b)
  }
}

/** Reads the turns at the end of the conversation with which those that were sent can be aligned. */
async function readEnd (deps: Dependencies, { bank, conversationId, sent }: Append): Promise<StoredMessages> {
  const stored = new StoredMessages()
  // Messages that were superseded or retired keep their places, and are no news either.
  if (deps.store.revise !== undefined) {
    const past = messagesInOrder(deps, { bank, conversationId }, 'newest', READ_MESSAGES, 'history')
    for await (const memory of past) if (memory.message !== null) stored.add(memory, memory.message)
  }
  const compared = comparedTurns(countTurns(sent))
  for await (const memory of messagesInOrder(deps, { bank, conversationId }, 'newest', compared + 1)) {
    const { message } = memory
    if (message === null) continue
    stored.add(memory, message)
    if (!isInstruction(message) && message.position < stored.end - compared) return stored
  }
  stored.isWhole = true
  return stored
}

/** Reads as many turns from its beginning. */
async function readBeginning (
  deps: Dependencies, stored: StoredMessages, { bank, conversationId, sent }: Append,
): Promise<void> {
  const turns = countTurns(sent)
  for await (const memory of messagesInOrder(deps, { bank, conversationId }, 'oldest', sent.length + 1)) {
    const { message } = memory
    if (message === null) continue
    if (!isInstruction(message) && message.position >= turns) return
    stored.add(memory, message)
  }
}

/** The number of turns at the end with which so many are compared. */
function comparedTurns (turns: number): number {
  return turns < MIN_LATE_TURNS ? turns : turns + LATE_TURNS
}

function countTurns (sent: Append['sent']): number {
  return sent.filter((one) => one !== undefined && !isInstruction(one)).length
}

async function * messagesInOrder (
  { store, clock }: Dependencies, { bank, conversationId }: ConversationPlace, order: 'newest' | 'oldest',
  expected: number, state?: 'history',
): AsyncGenerator<Memory> {
  const limit = Math.min(expected, READ_MESSAGES)
  const request: ListRequest = {
    now: clock(),
    limit,
    filters: { ...filtersOf(conversationId), ...state !== undefined && { state } },
    current: true,
    order: order === 'oldest' ? order : undefined,
  }
  for (let after: Memory | undefined; ;) {
    const page = await store.list(bank.key, { ...request, after })
    yield * page
    after = page.at(-1)
    if (page.length < limit) return
  }
}

function filtersOf (conversationId: string): ListFilters {
  return { documentIds: [conversationId], messages: true }
}

/**
 * Finds which of the messages the conversation has.
 * @throws ServiceError message_conflict for an id that has other content
 */
async function findStored (deps: Dependencies, stored: StoredMessages, append: Append): Promise<Found[]> {
  const { sent } = append
  const found: Found[] = []
  for (const one of sent) {
    if (one === undefined || (one.id === undefined && !isInstruction(one))) {
      found.push(undefined)
      continue
    }
    const memory = stored.find(one) ?? (stored.isWhole ? undefined : await lookUp(deps, one, append))
    const message = memory?.message ?? undefined
    if (message !== undefined) requireSame(one, message)
    found.push(memory)
  }
  const turns = sent.flatMap((one, index) => one === undefined || isInstruction(one) ? [] : [{ one, index }])
  if (turns.every(({ one }) => one.id !== undefined)) return found
  if (!stored.isWhole) await readBeginning(deps, stored, append)
  const aligned = align(turns.map(({ one }) => one), stored)
  for (const [at, { index }] of turns.entries()) found[index] ??= aligned[at]
  return found
}

/** Finds what was not read: the message with this id, or the instruction with this text. */
async function lookUp (
  { store, clock }: Dependencies, { item, at: _at, ...message }: Sent, { bank: { key } }: Append,
): Promise<Memory | undefined> {
  const fingerprint = fingerprintOf({ ...item, message: { ...message, position: 0 } })
  const repeated = await store.findRepeated?.(key, fingerprint, clock())
  return repeated && await store.get(key, repeated.memoryId, clock())
}

function requireSame ({ at, digest, id }: Sent, message: Pick<MessageFields, 'digest'>): void {
  if (message.digest === digest) return
  throw new ServiceError('message_conflict', `${at}id: the conversation has another message with the id ${id ?? ''}`)
}

/**
 * Aligns turns with those of the conversation: at its beginning, as an older transcript or one that grew, or at its
 * end, so that the overlap is the longest, or wholly before its end; where something stands it must be the same turn,
 * and where something was forgotten it may be any. Of a transcript that begins as the conversation does and differs
 * later, because a message was changed or an answer made again, each turn from there on is looked for wherever it
 * stands. What is undefined is new.
 * In steps: the turns times the starts, about 1,000 of each, and a start ends at its first difference.
 */
function align (turns: readonly Sent[], stored: StoredMessages): Found[] {
  const first = compareFrom(0, turns, stored)
  if (first.agreeing > 0 && !first.differs) return first.found
  const starts = (from: number, until: number) => (
    Array.from({ length: Math.max(0, until - Math.max(1, from)) }, (_, index) => Math.max(1, from) + index)
  )
  const atEnd = stored.end - turns.length
  for (const start of [...starts(atEnd, stored.end), ...starts(stored.end - comparedTurns(turns.length), atEnd)]) {
    const { found, agreeing, differs } = compareFrom(start, turns, stored)
    if (agreeing > 0 && !differs) return found
  }
  if (first.agreeing === 0) return []
  const { found } = first
  // What stands there may be sent for one turn each.
  const positions = stored.positionsFrom(found.length)
  for (const turn of turns.slice(found.length)) {
    const at = positions.findIndex((position) => sameAt(position, turn, stored) !== undefined)
    found.push(at === -1 ? undefined : sameAt(positions.splice(at, 1)[0]!, turn, stored))
  }
  return found
}

/** Compares turns with what stands from a position on, up to the first difference. */
function compareFrom (
  start: number, turns: readonly Sent[], stored: StoredMessages,
): { found: Found[], agreeing: number, differs: boolean } {
  const found: Found[] = []
  let agreeing = 0
  for (const turn of turns) {
    const position = start + found.length
    if (position >= stored.end) break
    const same = sameAt(position, turn, stored)
    if (same === undefined && stored.at(position).length > 0) return { found, agreeing, differs: true }
    if (same !== undefined) agreeing++
    found.push(same ?? 'forgotten')
  }
  return { found, agreeing, differs: false }
}

function sameAt (position: number, { id, digest }: Sent, stored: StoredMessages): Memory | undefined {
  return stored.at(position).find(({ message }) => (
    id !== undefined && message?.id !== undefined ? message.id === id : message?.digest === digest
  ))
}

/** @throws ServiceError invalid_request for a place that is none */
async function messagesOf (
  deps: Dependencies, query: MessagesRequest, { context }: Call,
): Promise<MessagesAnswer> {
  const { directory, store, clock } = deps
  const { bank_id: bankId, conversation_id: conversationId, before, after } = query
  const bank = await directory.openOne(context, 'read', bankId)
  requireConversations(deps)
  if (before !== undefined && after !== undefined) throw invalidField('after', 'cannot be given together with before')
  const limit = pageSize(query.limit)
  // One more than a page shows whether there is a next one.
  const memories = await store.list(bank.key, {
    now: clock(),
    limit: limit + 1,
    filters: filtersOf(conversationId),
    order: after === undefined ? undefined : 'oldest',
    after: before === undefined ? await placeAfter(deps, { bank, conversationId }, after) : placeOf(before),
  })
  const shown = memories.slice(0, limit)
  const last = shown.at(-1)
  return {
    messages: toMessages(after === undefined ? shown.toReversed() : shown),
    next_cursor: memories.length > limit && last !== undefined ? encodeCursor([last.retainedAt, last.memoryId]) : null,
  }
}

function placeOf (cursor: string): NonNullable<ListRequest['after']> {
  const [retainedAt, memoryId] = decodeCursor(cursor, isMemoryPlace)
  return { retainedAt, memoryId }
}

async function placeAfter (
  { store, clock }: Dependencies, { bank, conversationId }: ConversationPlace, after: string | undefined,
): Promise<ListRequest['after']> {
  if (after === undefined) return undefined
  if (!isUuid(after)) return placeOf(after)
  const memory = await store.get(bank.key, after.toLowerCase(), clock())
  if (memory?.message != null && memory.documentId === conversationId) return memory
  throw invalidField('after', 'is no message of this conversation')
}

function toMessages (memories: readonly Memory[]): MessagesAnswer['messages'] {
  return memories.flatMap(({ memoryId, message, text, occurredAt, retainedAt }) => message === null
    ? []
    : [{
        id: message.id ?? null,
        memory_id: memoryId,
        role: message.role,
        name: message.name ?? null,
        content: text,
        created_at: formatInstant(occurredAt ?? retainedAt),
      }])
}

async function conversationsOf (
  deps: Dependencies, query: { bank_id: string, limit?: number, cursor?: string }, { context }: Call,
): Promise<ConversationsAnswer> {
  const { directory, store, clock } = deps
  const { key } = await directory.openOne(context, 'read', query.bank_id)
  requireConversations(deps)
  const limit = pageSize(query.limit)
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, isConversationPlace)[0]
  const found = await store.listConversations!(key, { now: clock(), limit: limit + 1, after })
  const shown = found.slice(0, limit)
  const last = shown.at(-1)
  return {
    conversations: shown.map(({ conversationId, messageCount, lastRetainedAt }) => ({
      conversation_id: conversationId, message_count: messageCount, last_message_at: formatInstant(lastRetainedAt),
    })),
    next_cursor: found.length > limit && last !== undefined ? encodeCursor([last.conversationId]) : null,
  }
}

async function pop (
  deps: Dependencies, { bank_id: bankId, conversation_id: conversationId, count }: PopMessagesRequest, call: Call,
): Promise<PoppedMessages> {
  const { access, directory, admission, idempotency: keys, store, clock } = deps
  const { context, idempotency, signal } = call
  const bank = await directory.openOne(context, 'forget', bankId)
  requireConversations(deps)
  let last: Memory[] = []
  const answer = await keys.runOnce(idempotency, context, bank.key, toDeleted, async (keyed) => {
    await admission.admit('forget', call, [bank])
    const now = clock()
    last = await store.list(bank.key, { now, limit: count, filters: filtersOf(conversationId), current: true })
    const outcome = await store.remove(bank.key, { kind: 'ids', memoryIds: last.map(({ memoryId }) => memoryId) }, {
      now, dryRun: false, idLimit: MAX_MESSAGES, idempotency: idempotentWrite(keyed, null), signal,
    })
    return { context: null, outcome }
  })
  if (!access.decide(context, 'read', bankId, bank.grants).allowed) return answer
  const removed = new Set(answer.memory_ids)
  const messages = toMessages(last.filter(({ memoryId }) => removed.has(memoryId)).reverse())
  return messages.length < removed.size ? answer : { ...answer, messages }
}

async function removeConversation (
  deps: Dependencies, { bank_id: bankId, conversation_id: conversationId }: DeleteConversationRequest, call: Call,
): Promise<DeletedMessages> {
  const { directory, admission, store, clock } = deps
  const bank = await directory.openOne(call.context, 'forget', bankId)
  requireConversations(deps)
  await admission.admit('forget', call, [bank])
  const outcome = await store.remove(bank.key, { kind: 'filters', filters: filtersOf(conversationId) }, {
    now: clock(), dryRun: false, idLimit: MAX_MESSAGES, signal: call.signal,
  })
  return toDeleted({ context: null, outcome })
}

/** The ids in one order, because each store has its own. */
function toDeleted ({ outcome: { count, memoryIds } }: WriteResult<null, RemoveOutcome>): DeletedMessages {
  return { deleted_count: count, memory_ids: memoryIds.toSorted() }
}

function requireConversations ({ store }: Dependencies): void {
  if (store.countMemories !== undefined && store.listConversations !== undefined) return
  throw new ServiceError('not_supported', 'The configured vector store does not support conversations')
}
