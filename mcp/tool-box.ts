import { ProtocolError, ProtocolErrorCode, type CallToolResult, type Tool } from '@modelcontextprotocol/server'
import { Type, type Static, type TObject, type TSchema } from 'typebox'
import { invalidField } from '../lib/base/service-error.js'
import { IDEMPOTENCY_KEY_IN_WORDS, isIdempotencyKey } from '../lib/operations/idempotency.js'
import {
  type AskFor, boundedLists, namedBanks, type BoundedList, type Operation, type Tool as ToolDeclaration,
} from '../lib/operations/operation.js'
import { IDEMPOTENCY_PERIOD, strict } from '../lib/operations/schemas.js'
import { OPERATIONS } from '../lib/operations/operations.js'
import type { TokenBudget } from '../lib/operations/token-budget.js'
import { beginningOf } from '../lib/base/shorten.js'
import { prepareInput, schemaCheck } from '../lib/base/schema-check.js'
import type { Caller } from './caller.js'

/** Longest name of an unknown tool that an error quotes. */
const MAX_QUOTED = 64
/** The arguments that name a bank. A pinned endpoint has none of them. */
const BANK_ARGUMENTS: readonly string[] = ['bank_id', 'banks']

/** The services of one call of a tool. */
export interface ToolCall {
  caller: Caller
  /** Aborts when the client cancels the call or disconnects. */
  signal: AbortSignal
  /** The tokens that the answer may have. */
  budget: TokenBudget
  /** The header Idempotency-Key of the request, if any. */
  idempotencyKey: string | undefined
}

const idempotency = {
  idempotency_key: Type.Optional(Type.String({
    description: `A call with the same key and arguments within ${IDEMPOTENCY_PERIOD} gets the same answer and is ` +
      'not executed again.',
  })),
}

interface PreparedTool {
  name: string
  operation: Operation
  declaration: ToolDeclaration
  input: TObject
  namesBank: boolean
  check: (value: unknown) => Static<TObject>
  lists: readonly BoundedList[]
}

const ALL: readonly Operation[] = Object.values<Operation>(OPERATIONS)

/** Every operation that is a tool. */
const TOOLS: readonly PreparedTool[] = ALL.flatMap((operation) => {
  const { name, tool: declaration, request, idempotent } = operation
  if (declaration === undefined) return []
  const { omit = [], input: { properties } = request } = declaration
  const input = strict({
    ...Object.fromEntries(Object.entries<TSchema>(properties).filter(([member]) => !omit.includes(member))),
    ...idempotent === true && idempotency,
  })
  return [{
    name: name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    operation,
    declaration,
    input,
    namesBank: 'bank_id' in properties,
    check: schemaCheck(input),
    lists: boundedLists(input),
  }]
})

/** The list of tools does not depend on the caller, so it is made once for each kind of endpoint. */
const OPEN = TOOLS.map((tool) => publish(tool, tool.input))
const PINNED = TOOLS.filter(({ namesBank }) => namesBank).map((tool) => publish(tool, withoutBanks(tool.input)))

/** The tools of an endpoint. A tool of a pinned endpoint has no argument for a bank. */
export function publishedTools (isPinned: boolean): Tool[] {
  return isPinned ? PINNED : OPEN
}

function publish ({ name, operation, declaration }: PreparedTool, input: TObject): Tool {
  const { title, description, destructive = false, output = operation.answer } = declaration
  return {
    name,
    title,
    description: 'bank_id' in input.properties
      ? description
      : description.replace(' Requires exactly one of bank_id and banks.', ''),
    inputSchema: published(input),
    outputSchema: published(output),
    annotations: {
      title,
      readOnlyHint: operation.permission === 'read',
      destructiveHint: destructive,
      // A second call changes nothing: an exact repeat of a retain returns the memory that exists.
      idempotentHint: true,
      openWorldHint: false,
    },
  }
}

/**
 * A schema as clients get it: plain JSON Schema without the `x-` keywords, and with a type for every `enum`, because
 * some models need it.
 */
function published (schema: TSchema): { type: 'object', [keyword: string]: unknown } {
  const plain: unknown = JSON.parse(JSON.stringify(schema), (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    const entries = Object.entries(value).filter(([keyword]) => !keyword.startsWith('x-'))
    const isTextEnum = 'enum' in value && !('type' in value) && Array.isArray(value.enum)
    return Object.fromEntries(isTextEnum ? [['type', 'string'], ...entries] : entries)
  })
  return { ...(plain as Record<string, unknown>), type: 'object' }
}

function withoutBanks (input: TObject): TObject {
  return strict(Object.fromEntries(
    Object.entries<TSchema>(input.properties).filter(([name]) => !BANK_ARGUMENTS.includes(name)),
  ))
}

/**
 * Executes a tool in the order of the routes: which banks, access to them, and only then the arguments.
 * @param pinned the bank of the endpoint; undefined when the arguments name it
 * @throws ProtocolError for an unknown tool; ServiceError or MemoryGatewayError for a refusal
 */
export async function callTool (
  name: string, given: Record<string, unknown> = {}, call: ToolCall, pinned: string | undefined,
): Promise<CallToolResult> {
  const tool = TOOLS.find((each) => each.name === name)
  if (tool === undefined || (pinned !== undefined && !tool.namesBank)) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${beginningOf(name, MAX_QUOTED)}`)
  }
  const { caller, signal, budget } = call
  const { operation, declaration } = tool
  const { permission, permissionFor } = operation
  const input = pinned === undefined ? { ...given } : withPinnedBank(given, pinned)
  const banks = tool.namesBank ? namedBanks(input, tool.lists) : undefined
  if (permission !== undefined && banks !== undefined) {
    await caller.checkAccess(permissionFor?.(input) ?? permission, banks)
  }
  prepareInput(input, tool.input)
  const { idempotency_key: key, ...request } = tool.check(input)
  const idempotencyKey = operation.idempotent === true ? checkedKey(key ?? call.idempotencyKey) : undefined
  const ask = async (asked: typeof request) => await caller.ask(operation, asked, { signal, idempotencyKey })
  const askFor: AskFor = async (other, asked) => await caller.ask(other, asked, { signal })
  const answer = await (declaration.shape?.(ask, request, budget, askFor) ?? ask(request))
  return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: answer }
}

function checkedKey (key: unknown): string | undefined {
  if (key === undefined || (typeof key === 'string' && isIdempotencyKey(key))) return key
  throw invalidField('idempotency_key', `must be ${IDEMPOTENCY_KEY_IN_WORDS}`)
}

/** A bank argument is refused even when it names the pinned bank, since the endpoint has no such argument. */
function withPinnedBank (given: Record<string, unknown>, pinned: string): Record<string, unknown> {
  const named = BANK_ARGUMENTS.find((argument) => Object.hasOwn(given, argument))
  if (named !== undefined) {
    throw invalidField(named, 'is not an argument here: this endpoint serves one bank, which its address names')
  }
  return { ...given, bank_id: pinned }
}
