/*
 * Makes the client's methods from the OpenAPI document: a class for the operations of callers and one for those of
 * operators. What a method does follows from its operation:
 *
 * - path parameters, query parameters and the headers If-Match and If-None-Match are members of its request;
 * - a body is the request itself; beside other parameters, the members of that of a POST are members of the request,
 *   and another is the member `patch` of a PATCH, otherwise the member that is named like the last part of the path; a
 *   body without members is not asked for;
 * - an Idempotency-Key makes it a write that may be repeated with its key, and its options WriteOptions;
 * - GET, and POST with `x-repeatable` in the document, may be repeated freely, everything else may not;
 * - a query with `cursor` and an answer with `next_cursor` and one array make it a Listing.
 *
 * Operations whose body or answer is only a stream are written by hand, and so are probes, which are never retried.
 */

interface Schema {
  $ref?: string
  type?: string | string[]
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
}

interface Parameter {
  in: 'path' | 'query' | 'header'
  name: string
  required?: boolean
  description?: string
}

type Content = Record<string, { schema?: Schema }>

interface DocumentedOperation {
  operationId: string
  tags?: string[]
  summary?: string
  description?: string
  parameters?: Parameter[]
  requestBody?: { content: Content }
  responses: Record<string, { content?: Content }>
  'x-repeatable'?: boolean
}

export interface Document {
  paths: Record<string, Record<string, DocumentedOperation>>
  components: { schemas: Record<string, Schema> }
}

interface Operation extends DocumentedOperation {
  method: string
  path: string
  isAdmin: boolean
  /** The schemas of its body and of its answer. */
  body: { contentType: string, name: string, isEmpty: boolean } | undefined
  answer: string
}

const HEAD = '/* Made from the gateway\'s OpenAPI document by `npm run generate`. It is not edited by hand. */\n'
const JSON_TYPE = /^application\/(?:[a-z-]+\+)?json$/
const WITHOUT_METHOD = new Set(['health', 'sources'])
/** Has pages, but so few entries that one page is what callers want. */
const ONE_PAGE = new Set(['getBankConfigHistory'])

/** @returns the text of generated/types.ts and of generated/operations.ts */
export function clientOf (document: Document): { types: string, operations: string } {
  const found = operationsOf(document)
  return { types: typesOf(document, found), operations: classesOf(document, found) }
}

function operationsOf ({ paths, components }: Document): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods).flatMap(([method, documented]) => {
    const isAdmin = path.startsWith('/v1/admin/')
    const { operationId, tags = [], requestBody, responses } = documented
    const answer = jsonOf(responses['200']?.content)
    const body = jsonOf(requestBody?.content)
    if (answer === undefined || (requestBody !== undefined && body === undefined)) return []
    if (!isAdmin && tags.some((tag) => WITHOUT_METHOD.has(tag))) return []
    const name = body && schemaName(body.schema, `body of ${operationId}`)
    return [{
      ...documented,
      method: method.toUpperCase(),
      path,
      isAdmin,
      body: body && name !== undefined
        ? { contentType: body.contentType, name, isEmpty: isEmpty(components.schemas[name]) }
        : undefined,
      answer: schemaName(answer.schema, `answer of ${operationId}`),
    }]
  }))
}

function jsonOf (content: Content = {}): { contentType: string, schema: Schema | undefined } | undefined {
  const found = Object.entries(content).find(([type]) => JSON_TYPE.test(type))
  return found && { contentType: found[0], schema: found[1].schema }
}

function schemaName (schema: Schema | undefined, where: string): string {
  const [, name] = /^#\/components\/schemas\/(\w+)$/.exec(schema?.$ref ?? '') ?? []
  if (name === undefined) throw new Error(`The ${where} has no name: give its schema a title`)
  return name
}

function isEmpty (schema: Schema | undefined): boolean {
  return schema?.type === 'object' && Object.keys(schema.properties ?? {}).length === 0
}

/** The parameters that are members of a request. */
function membersOf ({ parameters = [] }: Operation): Parameter[] {
  return parameters.filter(({ in: place, name }) => place !== 'header' || name.startsWith('if-'))
}

/** @returns the member that is the body of a request; undefined when its members are those of the request */
function bodyMember ({ method, path, operationId }: Operation): string | undefined {
  if (method === 'POST') return undefined
  if (method === 'PATCH') return 'patch'
  const last = path.split('/').at(-1)!
  if (method !== 'PUT' || !/^\w+$/.test(last)) {
    throw new Error(`${operationId} has a body beside other parameters, for which there is no rule`)
  }
  return last
}

/** @returns undefined for an operation that needs nothing */
function requestType (operation: Operation): string | undefined {
  const { body, operationId } = operation
  if (membersOf(operation).length > 0) return `${operationId[0]!.toUpperCase()}${operationId.slice(1)}Request`
  return body?.isEmpty === false ? body.name : undefined
}

function typesOf ({ components: { schemas } }: Document, operations: Operation[]): string {
  const requests = operations.filter((operation) => membersOf(operation).length > 0)
  const items = operations.flatMap((operation) => pageOf(schemas, operation)?.item ?? [])
  const bodies = operations.flatMap(({ body }) => body?.isEmpty === false ? [body.name] : [])
  const names = new Set([...bodies, ...operations.map(({ answer }) => answer), ...items])
  return [
    `${HEAD}import type { components, operations } from './openapi.js'\n`,
    'type Schemas = components[\'schemas\']\n' +
    'type In<Name extends keyof operations, Place extends \'path\' | \'query\' | \'header\'> =\n' +
    '  NonNullable<operations[Name][\'parameters\'][Place]>\n',
    ...[...names].sort().map((name) => (
      `${comment([schemas[name]?.description], '')}export type ${name} = Schemas['${name}']\n`
    )),
    ...requests.map(requestInterface),
  ].join('\n')
}

function requestInterface (operation: Operation): string {
  const { operationId, body } = operation
  const members = membersOf(operation).map(({ in: place, name, required = false, description }) => {
    const type = `In<'${operationId}', '${place}'>['${name}']`
    const member = name.replaceAll('-', '_')
    return `${comment([description], '  ')}  ${member}${required ? `: ${type}` : `?: ${type} | undefined`}\n`
  })
  const own = body === undefined ? undefined : bodyMember(operation)
  const bodyLine = body === undefined || own === undefined ? '' : `  ${own}: Schemas['${body.name}']\n`
  const extended = body === undefined || own !== undefined ? '' : ` extends ${body.name}`
  return `/** The request of \`${methodName(operation)}\`. */\n` +
    `export interface ${requestType(operation)!}${extended} {\n${members.join('')}${bodyLine}}\n`
}

function methodName ({ operationId, isAdmin }: Operation): string {
  return isAdmin ? operationId.replace(/^admin[A-Z]/, (start) => start.slice(-1).toLowerCase()) : operationId
}

function classesOf ({ components: { schemas } }: Document, operations: Operation[]): string {
  const classOf = (name: string, about: string, own: Operation[]) => (
    `/** ${about} */\nexport abstract class ${name} {\n  readonly #transport: Transport\n\n` +
    '  constructor (transport: Transport) {\n    this.#transport = transport\n  }\n\n' +
    `${own.map((operation) => methodOf(schemas, operation)).join('\n')}}\n`
  )
  return [
    `${HEAD}import type { CallOptions, WriteOptions } from '../options.js'\n` +
    'import { Listing, withCursor } from \'../pages.js\'\nimport { pathOf } from \'../paths.js\'\n' +
    'import type { Transport } from \'../transport.js\'\nimport type * as T from \'./types.js\'\n',
    classOf('CallerOperations', 'The operations of callers.', operations.filter(({ isAdmin }) => !isAdmin)),
    classOf('AdminOperations', 'The operations of operators.', operations.filter(({ isAdmin }) => isAdmin)),
  ].join('\n')
}

function methodOf (schemas: Document['components']['schemas'], operation: Operation): string {
  const { summary, description, method, path, body, answer } = operation
  const members = membersOf(operation)
  const safety = safetyOf(operation)
  const page = pageOf(schemas, operation)
  const type = requestType(operation)
  const inPath = members.filter(({ in: place }) => place === 'path').map(({ name }) => name)
  const inHeader = members.filter(({ in: place }) => place === 'header').map(({ name }) => name)
  const hasQuery = members.some(({ in: place }) => place === 'query')
  const bodyName = members.length > 0 && body !== undefined ? bodyMember(operation) : undefined
  const named = [
    ...inPath, ...inHeader.map((name) => name.replaceAll('-', '_')), ...bodyName === undefined ? [] : [bodyName],
  ]
  const query = named.length === 0 ? 'request' : 'query'
  const isFlat = body?.isEmpty === false && members.length > 0 && bodyName === undefined
  const others = [...hasQuery ? ['...query'] : [], ...isFlat ? ['...body'] : []]
  const pattern = named.length === 0 ? 'request' : `{ ${[...named, ...others].join(', ')} }`
  const isOptional = members.length > 0 && !members.some(({ required }) => required)
  const parameters = [
    ...type === undefined ? [] : [`${pattern}: T.${type}${isOptional ? ' = {}' : ''}`],
    `options?: ${safety === 'keyed' ? 'WriteOptions' : 'CallOptions'}`,
  ].join(', ')
  const pathText = inPath.length === 0 ? `'${path}'` : `pathOf\`${path.replaceAll('{', '${')}\``
  const call = [
    `method: '${method}'`,
    page ? 'path' : `path: ${pathText}`,
    ...hasQuery ? [page ? `query: withCursor(${query}, cursor)` : query === 'query' ? 'query' : 'query: request'] : [],
    ...body === undefined ? [] : [`json: ${bodyName ?? (body.isEmpty ? '{}' : isFlat ? 'body' : 'request')}`],
    ...headersOf(body?.contentType, inHeader),
    `safety: '${safety}'`,
    // Some of its members tell an answer from another JSON document.
    `answer: [${(schemas[answer]?.required ?? []).slice(0, 4).map((member) => `'${member}'`).join(', ')}]`,
  ].map((member) => `      ${member},\n`).join('')
  const send = (answerOf: string) => `this.#transport.json${answerOf}({\n${call}    }, options)`
  const head = comment([summary && `${summary}.`, description], '  ')
  const name = methodName(operation)
  // The path of a listing is made, and its names are checked, when it is asked for, not at its first page.
  return page === undefined
    ? `${head}${signature(`async ${name}`, parameters, `Promise<T.${answer}>`)}` +
      `    return await ${send('')}\n  }\n`
    : `${head}${signature(name, parameters, `Listing<T.${page.item}, T.${answer}>`)}` +
      `    const path = ${pathText}\n` +
      `    return new Listing((cursor) => ${send(`<T.${answer}>`)}, (page) => page.${page.member})\n  }\n`
}

function signature (name: string, parameters: string, result: string): string {
  const line = `  ${name} (${parameters}): ${result} {\n`
  return line.length <= 121 ? line : `  ${name} (\n    ${parameters},\n  ): ${result} {\n`
}

function headersOf (contentType: string | undefined, names: string[]): string[] {
  const headers = [
    ...contentType === undefined || contentType === 'application/json' ? [] : [`'content-type': '${contentType}'`],
    ...names.map((name) => `'${name}': ${name.replaceAll('-', '_')}`),
  ]
  return headers.length === 0 ? [] : [`headers: { ${headers.join(', ')} }`]
}

function safetyOf ({ method, parameters = [], 'x-repeatable': isRepeatable }: Operation): 'read' | 'keyed' | 'once' {
  if (parameters.some(({ name }) => name === 'idempotency-key')) return 'keyed'
  return method === 'GET' || isRepeatable === true ? 'read' : 'once'
}

function pageOf (
  schemas: Document['components']['schemas'], { operationId, parameters = [], answer }: Operation,
): { member: string, item: string } | undefined {
  const { next_cursor: next, ...others } = schemas[answer]?.properties ?? {}
  const hasCursor = parameters.some(({ in: place, name }) => place === 'query' && name === 'cursor')
  if (!hasCursor || next === undefined || ONE_PAGE.has(operationId)) return undefined
  const [list, ...more] = Object.entries(others).filter(([, { type }]) => type === 'array')
  if (list === undefined || more.length > 0) throw new Error(`${operationId} has pages of not exactly one array`)
  return { member: list[0], item: schemaName(list[1].items, `items of ${operationId}`) }
}

/** A comment of paragraphs, or nothing. */
function comment (texts: Array<string | undefined>, indent: string): string {
  const lines = texts.flatMap((text) => text === undefined ? [] : wrapped(text.replaceAll('*/', '*\\/'), indent))
  const [only, ...more] = lines
  if (only === undefined) return ''
  if (more.length === 0 && indent.length + only.length <= 113) return `${indent}/** ${only} */\n`
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */\n`].join('\n')
}

/** Lines of at most 120 columns with the indent and ` * `. */
function wrapped (text: string, indent: string): string[] {
  const width = 116 - indent.length
  return text.split('\n').flatMap((paragraph) => {
    const lines = ['']
    for (const word of paragraph.split(' ')) {
      const line = lines.at(-1)!
      if (line === '') lines[lines.length - 1] = word
      else if (line.length + word.length < width) lines[lines.length - 1] = `${line} ${word}`
      else lines.push(word)
    }
    return lines
  })
}
