import secureJson from 'secure-json-parse'
import { formatInstant } from '../clock.js'
import { invalidField, invalidRequest } from '../errors.js'
import { callerOf, type RequestContext } from '../identity/context.js'
import { guarded } from '../retrieval/retriever.js'
import { schemaCheck } from '../schema-check.js'
import type { ImportOutcome, Memory } from '../stores/vector-store.js'
import { lowestTrust, type Trust } from '../trust.js'
import { turns } from '../turn-budget.js'
import type { BankConfigurations } from './bank-configurations.js'
import type { Dependencies } from './dependencies.js'
import type { OpenBank } from './file-settings.js'
import type { IdempotencyKey } from './idempotency.js'
import { prepare, type PreparedMemory } from './preparation.js'
import { instantField, toRecord } from './records.js'
import { ImportLine, type ImportAnswer } from './schemas.js'

const FORMAT = 'memory-gateway-export'
const VERSION = 1

const checkLine = schemaCheck(ImportLine)

/** How an import meets what stands. */
export interface ImportOptions {
  onConflict: 'skip' | 'overwrite'
  /** Whether the configuration that the export carries is applied. */
  config: 'ignore' | 'apply'
}

/** What an import brings. */
interface Imported {
  lines: PreparedMemory[]
  /** The configuration of the bank that was exported, unchecked; undefined when it had none. */
  config: unknown
}

/** Export and import: a bank as NDJSON, a header line and then a memory a line. */
export class Transfer {
  readonly #deps: Dependencies
  readonly #configurations: BankConfigurations

  constructor (deps: Dependencies, configurations: BankConfigurations) {
    this.#deps = deps
    this.#configurations = configurations
  }

  /** @returns the lines with their line feeds, of the bank as it stood when the call was made */
  async export (bankId: string, context: RequestContext): Promise<AsyncIterable<string>> {
    const { directory, store, clock } = this.#deps
    const { key } = await directory.openOne(context, 'admin', bankId)
    const config = await this.#configurations.read(key)
    const { count, memories } = await guarded(() => store.scan(key, clock()))
    const header = { format: FORMAT, version: VERSION, bank_id: bankId, exported_at: formatInstant(clock()), memory_count: count, ...(config !== undefined && { config }) }
    return exportLines(bankId, header, memories)
  }

  /**
   * Reads an export back: every line is checked before the first is stored, and all are stored or none.
   * @param text the NDJSON
   * @throws ServiceError invalid_request that names the line
   */
  async import (bankId: string, text: string, { onConflict, config }: ImportOptions, context: RequestContext, idempotency?: IdempotencyKey): Promise<ImportAnswer> {
    const { directory, store, indexer, clock, ledger, live } = this.#deps
    const open = await directory.openOne(context, 'admin', bankId)
    const { key: bank, settings } = open
    return await ledger.once(idempotency, context, bankId, async (keep) => {
      const now = clock()
      const caller = callerOf(context)
      const imported = await this.#read(open, text, now, live.current.trust.of(context), caller)
      const { lines } = imported
      const change = config === 'apply' && imported.config !== undefined ? this.#configurations.changeTo(bank, imported.config, context, 'line 1: config.') : undefined
      const standing = lines.filter(({ memory }) => memory.expiresAt === null || memory.expiresAt > now)
      const memories = await indexer.index(standing, settings.retrieval.chunk_max_characters, caller)
      // A memory that has expired since it was exported would be gone the moment it came in.
      const toAnswer = (outcome: ImportOutcome): ImportAnswer => ({ ...outcome, skipped: outcome.skipped + lines.length - standing.length })
      return await indexer.replacing(bank, memories, async () => {
        const outcome = await guarded(() => store.import(bank, memories, onConflict, clock(), keep(toAnswer), change))
        if (change !== undefined) directory.invalidate(bank)
        indexer.stored(bank, outcome.skipped === 0 ? memories : undefined)
        return toAnswer(outcome)
      })
    })
  }

  /** @param ceiling what the importer's memories are trusted; a line can only lower it */
  async #read ({ settings }: OpenBank, text: string, now: number, ceiling: Trust, caller: string): Promise<Imported> {
    const { newId } = this.#deps
    const [header, ...lines] = text.split('\n').map((line, index) => ({ line: line.trim(), number: index + 1 })).filter(({ line }) => line !== '')
    if (header === undefined) throw invalidRequest([{ field: '', message: 'The import is empty' }])
    const config = readHeader(parseLine(header.line, header.number))
    const prepared: PreparedMemory[] = []
    for (const { line, number } of lines) {
      if (turns.isSpent) await turns.next(caller)
      const at = `line ${number}: `
      const { text: content, memory_id: memoryId, bank_id: _origin, retained_at: retainedAt, tags = [], trust = ceiling, ...rest } = readLine(parseLine(line, number), at)
      const identity = {
        memoryId: memoryId?.toLowerCase() ?? newId(),
        retainedAt: retainedAt === undefined ? now : instantField(`${at}retained_at`, retainedAt),
        trust: lowestTrust(ceiling, trust),
      }
      prepared.push(await prepare({ content, ...rest, ...(tags.length > 0 && { tags }) }, identity, settings, at, caller, 'text'))
    }
    return { lines: prepared, config }
  }
}

async function * exportLines (bankId: string, header: object, memories: AsyncIterable<Memory>): AsyncGenerator<string> {
  yield `${JSON.stringify(header)}\n`
  for await (const memory of memories) yield `${JSON.stringify(toRecord(bankId, memory))}\n`
}

function parseLine (line: string, number: number): unknown {
  try {
    return secureJson.parse(line)
  } catch {
    throw invalidField(`line ${number}`, 'is not valid JSON')
  }
}

/** @returns the configuration that the header carries */
function readHeader (header: unknown): unknown {
  const { format, version, config } = (typeof header === 'object' && header !== null ? header : {}) as { format?: unknown, version?: unknown, config?: unknown }
  if (format !== FORMAT) throw invalidField('line 1', `must be the header of an export, with "format": "${FORMAT}"`)
  if (version !== VERSION) throw invalidField('line 1', `must have "version": ${VERSION}, the one that this server reads`)
  return config ?? undefined
}

/** A null in an export stands for an absent value. */
function readLine (value: unknown, at: string): ImportLine {
  const line: unknown = typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))
    : value
  return checkLine(line, at)
}
