import {
  ProtocolError, ProtocolErrorCode, type ListResourcesResult, type ReadResourceResult, type Resource,
  type ResourceTemplateType,
} from '@modelcontextprotocol/server'
import { isBankId } from '../lib/access/context.js'
import { shorten } from '../lib/base/shorten.js'
import { getBank, listBanks } from '../lib/operations/banks.js'
import { getMemory, listMemories } from '../lib/operations/memories.js'
import type { Caller } from './caller.js'
import type { TokenBudget } from '../lib/operations/token-budget.js'
import { cutMemory, fittingMemories, memoryView } from '../lib/operations/memory-view.js'
import { withoutUndefined } from '../lib/base/members.js'

const MIME_TYPE = 'application/json'
/** The number of resources in a page of the list, and of memories in the resource of a bank. */
const PAGE = 50
const MAX_TITLE = 80
const ROOT = 'memory://banks'
const BANK_URI = /^memory:\/\/banks\/([^/?#]{1,1024})$/
const MEMORY_URI = /^memory:\/\/banks\/([^/?#]{1,1024})\/memories\/([^/?#]{1,128})$/

const MEMORY_TEMPLATE: ResourceTemplateType = {
  uriTemplate: `${ROOT}/{bank_id}/memories/{memory_id}`,
  name: 'memory',
  title: 'A memory',
  description: 'One memory with its text, cut only to fit the limit on answers.',
  mimeType: MIME_TYPE,
}
const BANK_TEMPLATE: ResourceTemplateType = {
  uriTemplate: `${ROOT}/{bank_id}`,
  name: 'bank',
  title: 'A bank',
  description: `A bank and its newest memories, at most ${PAGE}.`,
  mimeType: MIME_TYPE,
}

interface ResourceCall {
  caller: Caller
  signal: AbortSignal
  budget: TokenBudget
  /** The bank of the endpoint; undefined when the address of a resource names it. */
  pinned: string | undefined
}

export function resourceTemplates (pinned: string | undefined): ResourceTemplateType[] {
  if (pinned === undefined) return [BANK_TEMPLATE, MEMORY_TEMPLATE]
  // A memory id needs no encoding, and the id is the only variable.
  return [{ ...MEMORY_TEMPLATE, uriTemplate: `${bankUri(pinned)}/memories/{memory_id}` }]
}

/** A page of the banks that the caller may read; of a pinned endpoint, the bank and its memories. */
export async function listResources (cursor: string | undefined, call: ResourceCall): Promise<ListResourcesResult> {
  const { caller, signal, pinned } = call
  const query = withoutUndefined({ limit: PAGE, cursor })
  if (pinned === undefined) {
    const { banks, next_cursor: next } = await caller.ask(listBanks, query, { signal })
    return page(banks.map(({ bank_id: bankId, memory_count: count }) => bankResource(bankId, count)), next)
  }
  const { memories, next_cursor: next } = await caller.ask(listMemories, { bank_id: pinned, ...query }, { signal })
  const resources = memories.map(({ memory_id: memoryId, text }): Resource => ({
    uri: `${bankUri(pinned)}/memories/${memoryId}`,
    name: memoryId,
    title: shorten(text, MAX_TITLE),
    mimeType: MIME_TYPE,
  }))
  return page(cursor === undefined ? [bankResource(pinned), ...resources] : resources, next)
}

function page (resources: Resource[], next: string | null): ListResourcesResult {
  return withoutUndefined({ resources, nextCursor: next ?? undefined })
}

function bankResource (bankId: string, count?: number): Resource {
  return withoutUndefined({
    uri: bankUri(bankId),
    name: bankId,
    title: bankId,
    mimeType: MIME_TYPE,
    description: count === undefined ? undefined : count === 1 ? '1 memory' : `${count} memories`,
  })
}

function bankUri (bankId: string): string {
  return `${ROOT}/${encodeURIComponent(bankId)}`
}

/** @throws ProtocolError for an address of no resource; ServiceError or RemoteError for a refusal */
export async function readResource (uri: string, call: ResourceCall): Promise<ReadResourceResult> {
  const contents = await contentsOf(uri, call)
  return { contents: [{ uri, mimeType: MIME_TYPE, text: JSON.stringify(contents) }] }
}

async function contentsOf (uri: string, { caller, budget, signal, pinned }: ResourceCall): Promise<object> {
  const memory = MEMORY_URI.exec(uri)
  const bankId = decoded((memory ?? BANK_URI.exec(uri))?.[1])
  if (bankId === undefined || !isBankId(bankId) || (pinned !== undefined && bankId !== pinned)) throw unknownUri()
  if (memory === null) {
    const bank = await caller.ask(getBank, { bank_id: bankId }, { signal })
    const { memories, next_cursor: next } = await caller.ask(listMemories, { bank_id: bankId, limit: PAGE }, { signal })
    await budget.take(bank)
    const fitting = await fittingMemories(memories, budget)
    return { ...bank, memories: fitting, truncated: next !== null || fitting.length < memories.length }
  }
  const memoryId = decoded(memory[2])
  if (memoryId === undefined) throw unknownUri()
  const view = memoryView(await caller.ask(getMemory, { bank_id: bankId, memory_id: memoryId }, { signal }))
  // With the whole budget, a memory without its long members always fits.
  return await budget.take(view) ? view : (await cutMemory(view, budget))!
}

/** The address of a bank other than the pinned one gets the answer of one that does not exist. */
function unknownUri (): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    'No such resource; resources/list and resources/templates/list have their addresses',
  )
}

function decoded (part: string | undefined): string | undefined {
  try {
    return part === undefined ? undefined : decodeURIComponent(part)
  } catch {
    return undefined
  }
}
