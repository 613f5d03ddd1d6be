import type { Static, TObject, TSchema } from 'typebox'
import type { Permission } from '../access/access-control.js'
import { isBankId } from '../access/context.js'
import type { SchemaNode } from '../base/schema-node.js'
import type { ErrorCode } from '../base/service-error.js'
import type { Call, Dependencies } from './dependencies.js'
import type { TokenBudget } from './token-budget.js'

/** Asks for the answer of another operation that needs the same permission, as the same caller. */
export type AskFor = <Request extends TObject, Answer extends TObject>(
  operation: Operation<Request, Answer>, request: Static<Request>,
) => Promise<Static<Answer>>

/** How models get an operation. */
export interface Tool<Request extends TObject = TObject, Answer extends TObject = TObject> {
  title: string
  description: string
  /** Whether a call can destroy what cannot be made again. Default false. */
  destructive?: true
  /** The members of the request that are no arguments. */
  omit?: ReadonlyArray<keyof Static<Request>>
  /** The arguments in words for models. Default: the members of the request. */
  input?: TObject
  /** What `shape` makes. Default: the answer of the operation. */
  output?: TSchema
  /** Asks for an answer and cuts it to the tokens that a model may get. Default: the answer as it is. */
  shape? (
    ask: (request: Static<Request>) => Promise<Static<Answer>>, request: Static<Request>, budget: TokenBudget,
    askFor: AskFor,
  ): Promise<Record<string, unknown>>
}

/**
 * What a caller can do, declared once: the route, the entry in the OpenAPI document, the tool of MCP and the method of
 * the client are made from it.
 */
export interface Operation<Request extends TObject = TObject, Answer extends TObject = TObject> {
  /** The method of the client and of the library. A tool has the same name in snake_case. */
  name: string
  /** The group in the documentation. */
  tag: 'memory' | 'banks' | 'conversations' | 'identity'
  /** What the caller needs on the banks of the request. An operation with `read` changes nothing. */
  permission?: Permission
  /** The permission when it depends on the request. Undefined: `permission`. */
  permissionFor?: (request: Readonly<Record<string, unknown>>) => Permission | undefined
  summary: string
  description?: string
  /** Every member of the request, those in the path of a route included. */
  request: Request
  answer: Answer
  /** Codes besides those that every operation can have. */
  errors: readonly ErrorCode[]
  /** Whether repeats with an idempotency key get the answer of the first. */
  idempotent?: true
  /** Whether the caller can require a version of what is changed; match: which is there in any case. */
  conditional?: true | 'match'
  /** The member that is the whole body of a request. Default: the body has all members that the path has not. */
  body?: string
  tool?: Tool<Request, Answer>
  run (deps: Dependencies, request: Static<Request>, call: Call): Promise<Static<Answer>>
}

/** Keeps the types of the request and the answer between their schemas and the functions. */
export function operation<Request extends TObject, Answer extends TObject> (
  declaration: Operation<Request, Answer>,
): Operation<Request, Answer> {
  return declaration
}

/** Codes of an operation that admission can refuse. */
export const LIMIT_ERRORS = ['rate_limited', 'quota_exceeded'] as const satisfies readonly ErrorCode[]

/** A list of a request, and its maximum length. */
export interface BoundedList {
  name: string
  maxItems: number
}

/** The top-level lists of a request that have a maximum length. */
export function boundedLists ({ properties = {} }: SchemaNode): BoundedList[] {
  return Object.entries(properties).flatMap(([name, { maxItems }]) => (
    maxItems === undefined ? [] : [{ name, maxItems }]
  ))
}

/**
 * The banks that a request names, before it is validated, so that access to them can be decided first.
 * @returns undefined when the envelope of the request is invalid, which its validation reports
 */
export function namedBanks (body: unknown, lists: readonly BoundedList[]): string[] | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined
  const members = body as Record<string, unknown>
  for (const { name, maxItems } of lists) {
    const list = members[name]
    if (Array.isArray(list) && list.length > maxItems) return undefined
  }
  const { bank_id: bankId } = members
  // A request that takes one bank has no bound on this list.
  const banks = lists.some(({ name }) => name === 'banks') ? members['banks'] : undefined
  if (typeof bankId === 'string' && (banks === undefined || banks === null)) {
    return isBankId(bankId) ? [bankId] : undefined
  }
  if ((bankId !== undefined && bankId !== null) || !Array.isArray(banks) || banks.length === 0) return undefined
  return banks.every((bank): bank is string => typeof bank === 'string' && isBankId(bank)) ? banks : undefined
}
