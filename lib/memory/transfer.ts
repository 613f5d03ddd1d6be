import secureJson from 'secure-json-parse'
import { formatInstant } from '../clock.js'
import { invalidField, invalidRequest } from '../errors.js'
import type { RequestContext } from '../identity/context.js'
import { guarded } from '../retrieval/retriever.js'
import { schemaCheck } from '../schema-check.js'
import type { ImportOutcome, Memory } from '../stores/vector-store.js'
import { lowestTrust, type Trust } from '../trust.js'
import { bankOf, type Dependencies } from './dependencies.js'
import type { IdempotencyKey } from './idempotency.js'
import { prepare, type PreparedMemory } from './preparation.js'
import { instantField, toRecord } from './records.js'
import { ImportLine, type ImportAnswer } from './schemas.js'

const FORMAT = 'memory-gateway-export'
const VERSION = 1

const checkLine = schemaCheck(ImportLine)

/** Export and import: a bank as NDJSON, a header line and then a memory a line. */
export class Transfer {
  readonly #deps: Dependencies

  constructor (deps: Dependencies) {
    this.#deps = deps
  }

  /** @returns the lines with their line feeds, of the bank as it stood when the call was made */
  async export (bankId: string, context: RequestContext): Promise<AsyncIterable<string>> {
    const { access, store, clock } = this.#deps
    access.require(context, 'admin', bankId)
    const { count, memories } = await guarded(() => store.scan(bankOf(context, bankId), clock()))
    return exportLines(bankId, count, formatInstant(clock()), memories)
  }

  /**
   * Reads an export back: every line is checked before the first is stored, and all are stored or none.
   * @param text the NDJSON
   * @throws ServiceError invalid_request that names the line
   */
  async import (bankId: string, text: string, onConflict: 'skip' | 'overwrite', context: RequestContext, idempotency?: IdempotencyKey): Promise<ImportAnswer> {
    const { access, store, indexer, clock, ledger, trust } = this.#deps
    access.require(context, 'admin', bankId)
    return await ledger.once(idempotency, context, bankId, async (keep) => {
      const now = clock()
      const lines = this.#read(bankId, text, now, trust.of(context))
      const standing = lines.filter(({ memory }) => memory.expiresAt === null || memory.expiresAt > now)
      const bank = bankOf(context, bankId)
      const memories = await indexer.index(standing)
      // A memory that has expired since it was exported would be gone the moment it came in.
      const toAnswer = (outcome: ImportOutcome): ImportAnswer => ({ ...outcome, skipped: outcome.skipped + lines.length - standing.length })
      return await indexer.replacing(bank, memories, async () => {
        const outcome = await guarded(() => store.import(bank, memories, onConflict, clock(), keep(toAnswer)))
        indexer.stored(bank, outcome.skipped === 0 ? memories : undefined)
        return toAnswer(outcome)
      })
    })
  }

  /** @param ceiling what the importer's memories are trusted; a line can only lower it */
  #read (bankId: string, text: string, now: number, ceiling: Trust): PreparedMemory[] {
    const { settings, newId } = this.#deps
    const policy = settings.of(bankId)
    const [header, ...lines] = text.split('\n').map((line, index) => ({ line: line.trim(), number: index + 1 })).filter(({ line }) => line !== '')
    if (header === undefined) throw invalidRequest([{ field: '', message: 'The import is empty' }])
    checkHeader(parseLine(header.line, header.number))
    return lines.map(({ line, number }) => {
      const at = `line ${number}: `
      const { text: content, memory_id: memoryId, bank_id: _origin, retained_at: retainedAt, tags = [], trust = ceiling, ...rest } = readLine(parseLine(line, number), at)
      const identity = {
        memoryId: memoryId?.toLowerCase() ?? newId(),
        retainedAt: retainedAt === undefined ? now : instantField(`${at}retained_at`, retainedAt),
        trust: lowestTrust(ceiling, trust),
      }
      return prepare({ content, ...rest, ...(tags.length > 0 && { tags }) }, identity, policy, at, 'text')
    })
  }
}

async function * exportLines (bankId: string, count: number, exportedAt: string, memories: AsyncIterable<Memory>): AsyncGenerator<string> {
  yield `${JSON.stringify({ format: FORMAT, version: VERSION, bank_id: bankId, exported_at: exportedAt, memory_count: count })}\n`
  for await (const memory of memories) yield `${JSON.stringify(toRecord(bankId, memory))}\n`
}

function parseLine (line: string, number: number): unknown {
  try {
    return secureJson.parse(line)
  } catch {
    throw invalidField(`line ${number}`, 'is not valid JSON')
  }
}

function checkHeader (header: unknown): void {
  const { format, version } = (typeof header === 'object' && header !== null ? header : {}) as { format?: unknown, version?: unknown }
  if (format !== FORMAT) throw invalidField('line 1', `must be the header of an export, with "format": "${FORMAT}"`)
  if (version !== VERSION) throw invalidField('line 1', `must have "version": ${VERSION}, the one that this server reads`)
}

/** A null in an export stands for an absent value. */
function readLine (value: unknown, at: string): ImportLine {
  const line: unknown = typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))
    : value
  return checkLine(line, at)
}
