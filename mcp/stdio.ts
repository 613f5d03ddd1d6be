import type { Readable, Writable } from 'node:stream'
import { SdkError, SdkErrorCode } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { AccessControl } from '../lib/access/access-control.js'
import { BANK_ID_IN_WORDS } from '../lib/validation/ids.js'
import { isBankId, type RequestContext } from '../lib/identity/context.js'
import type { Config } from '../lib/config/config.js'
import { McpSchema } from '../lib/config/schema.js'
import { variable } from '../lib/config/variables.js'
import { invalidField, ServiceError } from '../lib/errors/service-error.js'
import { createMemoryService, warmUp } from '../lib/memory/service.js'
import { MemoryGatewayError } from '../packages/client/src/index.js'
import { stackOf } from '../lib/errors/message-of.js'
import { localCaller, remoteCaller, type Caller, type ServerConnection } from './caller.js'
import { Refusals } from './refusals.js'
import { createMcpServer } from './server.js'
import { StdioTransport } from './stdio-transport.js'

/** The number of calls of a client that are executed at a time; further ones wait. */
const CONCURRENCY = 8
/** Maximum bytes of a message. */
const MAX_MESSAGE_BYTES = Number(variable('SERVICES_MAX_BODY_BYTES').default)
/** Tokens of one answer of a server. */
const SERVER_ANSWER_TOKENS = McpSchema.properties.answer_tokens.default
/** Somewhat more than a call of a server may take, so that its refusal is still answered. */
const ANSWER_TIMEOUT_MS = 65_000

/** Forwards every call to a server. */
interface ServerSource {
  source: 'server'
  server: ServerConnection
}

/** Uses a store in this process, for instance a folder with `vector_store: pglite`. */
interface EmbeddedSource {
  source: 'embedded'
  config: Config
  /** The principal of all calls, `<type>:<id>`. Default: the anonymous caller, whom access control does not limit. */
  principal?: string | undefined
}

export type McpStdioOptions = (ServerSource | EmbeddedSource) & {
  /** The version of the gateway. */
  version: string
  /** The only bank that the client may use. Default: calls name their banks. */
  bankId?: string | undefined
  /** Milliseconds in which the calls that run at the end of the input are answered. Default 65,000. */
  answerTimeoutMs?: number
  /** Ends the connection. */
  signal?: AbortSignal
  /** Gets one line for each warning and fault. Default: standard error. Standard output belongs to the protocol. */
  log?: (line: string) => void
  stdin?: Readable
  stdout?: Writable
}

/**
 * Serves the Model Context Protocol over standard input and output, as desktop clients expect.
 * @returns when the client has closed its end and its calls are answered, or the signal was aborted
 * @throws ServiceError for a bank id that is none; ProviderError when a provider cannot be made
 */
export async function runMcpStdio (options: McpStdioOptions): Promise<void> {
  const { bankId, signal, log = (line) => { process.stderr.write(`${line}\n`) } } = options
  if (bankId !== undefined && !isBankId(bankId)) {
    throw invalidField('bank', `must be a text ${BANK_ID_IN_WORDS}`)
  }
  const { caller, answerTokens, close } = await openSource(options, log)
  const refusals = new Refusals(undefined, (error, { aborted }) => {
    // The client has cancelled the call, or the end of the connection has ended it.
    const isGone = aborted || (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed)
    const isKnown = error instanceof ServiceError || error instanceof MemoryGatewayError
    if (!isGone && !isKnown) log(`unexpected fault: ${stackOf(error)}`)
  })
  try {
    await new Promise<void>((resolve) => {
      const transport = new StdioTransport({
        stdin: options.stdin ?? process.stdin,
        stdout: options.stdout ?? process.stdout,
        maxMessageBytes: MAX_MESSAGE_BYTES,
        answerTimeoutMs: options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS,
        ended: resolve,
      })
      const connection = serveStdio(() => createMcpServer({
        caller,
        refusals,
        version: options.version,
        answerTokens,
        concurrency: CONCURRENCY,
        pinned: bankId,
      }), { transport, maxSubscriptions: 0, onerror: (error) => { log(inOneLine(error)) } })
      const stop = () => { void connection.close().then(resolve, resolve) }
      if (signal?.aborted === true) stop()
      else signal?.addEventListener('abort', stop, { once: true })
    })
  } finally {
    await close()
  }
}

interface OpenSource {
  caller: Caller
  answerTokens: number
  close: () => Promise<void>
}

async function openSource (options: McpStdioOptions, warn: (line: string) => void): Promise<OpenSource> {
  if (options.source === 'server') {
    const caller = remoteCaller(options.server)
    return { caller, answerTokens: SERVER_ANSWER_TOKENS, close: async () => {} }
  }
  const { config, principal } = options
  const opening = createMemoryService(config, new AccessControl(config.settings.access), { warn })
  // Meanwhile the thread of PGlite opens the folder.
  warmUp()
  const memory = await opening
  const context: RequestContext = { tenantId: null, principal }
  return {
    caller: localCaller(memory, context),
    answerTokens: config.settings.mcp.answerTokens,
    close: async () => {
      await memory.idle()
      await memory.close()
    },
  }
}

/** The SDK describes a message of another form than JSON-RPC's by a page of JSON. */
function inOneLine ({ name, message }: Error): string {
  return name === 'ZodError' ? 'the client has sent a line that is not a message of JSON-RPC' : message
}
