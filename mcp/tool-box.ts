import { ProtocolError, ProtocolErrorCode, type CallToolResult, type Tool } from '@modelcontextprotocol/server'
import type { TObject } from 'typebox'
import { invalidField } from '../lib/errors/service-error.js'
import { boundedLists, namedBanks, type BoundedList } from '../lib/memory/named-banks.js'
import { beginningOf } from '../lib/validation/shorten.js'
import { prepareInput, schemaCheck } from '../lib/validation/schema-check.js'
import { BANK_ARGUMENTS, published } from './tool-schemas.js'
import { TOOLS, type ToolCall, type ToolDefinition } from './tools.js'

/** Longest name of an unknown tool that an error quotes. */
const MAX_QUOTED = 64

interface PreparedTool extends ToolDefinition {
  check: (value: unknown) => Record<string, unknown>
  lists: readonly BoundedList[]
}

const PREPARED: ReadonlyMap<string, PreparedTool> = new Map(TOOLS.map((tool) => [tool.name, {
  ...tool,
  check: schemaCheck(tool.input) as PreparedTool['check'],
  lists: boundedLists(tool.input),
}]))

/** The list of tools does not depend on the caller, so it is made once for each kind of endpoint. */
const OPEN = TOOLS.map((tool) => publish(tool, tool.input))
const PINNED = TOOLS.filter(({ permission }) => permission !== undefined)
  .map((tool) => publish(tool, withoutBanks(tool.input)))

/** The tools of an endpoint. A tool of a pinned endpoint has no argument for a bank. */
export function publishedTools (isPinned: boolean): Tool[] {
  return isPinned ? PINNED : OPEN
}

function publish ({ name, title, description, annotations, output }: ToolDefinition, input: TObject): Tool {
  return {
    name,
    title,
    description: input.properties['bank_id'] === undefined && name !== 'list_banks'
      ? description.replace(' Requires exactly one of bank_id and banks.', '')
      : description,
    inputSchema: published(input),
    outputSchema: published(output),
    annotations: { title, ...annotations },
  }
}

function withoutBanks (input: TObject): TObject {
  const isBank = (name: string) => BANK_ARGUMENTS.some((argument) => argument === name)
  const properties = Object.fromEntries(Object.entries(input.properties).filter(([name]) => !isBank(name)))
  const { required = [] } = input as { required?: string[] }
  return { ...input, properties, required: required.filter((name) => !isBank(name)) } as TObject
}

/**
 * Executes a tool in the order of the routes: which banks, access to them, and only then the arguments.
 * @param pinned the bank of the endpoint; undefined when the arguments name it
 * @throws ProtocolError for an unknown tool; ServiceError or RemoteError for a refusal
 */
export async function callTool (
  name: string, given: Record<string, unknown> = {}, call: ToolCall, pinned: string | undefined,
): Promise<CallToolResult> {
  const tool = PREPARED.get(name)
  if (tool === undefined || (pinned !== undefined && tool.permission === undefined)) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${beginningOf(name, MAX_QUOTED)}`)
  }
  const input = pinned === undefined ? { ...given } : withPinnedBank(given, pinned)
  if (tool.permission !== undefined) {
    const banks = namedBanks(input, tool.lists)
    if (banks !== undefined) await call.operations.checkAccess(tool.permission(input), banks)
  }
  prepareInput(input, tool.input)
  const answer = await tool.run(tool.check(input), call)
  return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: answer }
}

/** A bank argument is refused even when it names the pinned bank, since the endpoint has no such argument. */
function withPinnedBank (given: Record<string, unknown>, pinned: string): Record<string, unknown> {
  const named = BANK_ARGUMENTS.find((argument) => Object.hasOwn(given, argument))
  if (named !== undefined) {
    throw invalidField(named, 'is not an argument here: this endpoint serves one bank, which its address names')
  }
  return { ...given, bank_id: pinned }
}
