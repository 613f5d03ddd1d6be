import { isUtf8 } from 'node:buffer'
import { bankKeyString, type RequestContext } from '../access/context.js'
import { lowestTrust, type Trust } from '../access/trust.js'
import { formatInstant } from '../base/clock.js'
import { giveWay, isDue } from '../base/event-loop.js'
import { checkJsonText, type JsonBounds, parseSafely } from '../base/json-body.js'
import { isJsonObject } from '../base/json-object.js'
import { withoutUndefined } from '../base/members.js'
import { schemaCheck } from '../base/schema-check.js'
import { invalidField, ServiceError } from '../base/service-error.js'
import type { BankSettings, Bounds } from '../config/schema.js'
import type { NewBankConfig } from '../stores/bank-configs.js'
import { NOTHING_SAID } from '../stores/memory-fields.js'
import type { ImportOutcome, NewMemory, Memory, Version } from '../stores/vector-store.js'
import { storedConfig, changeTo } from './bank-configurations.js'
import type { OpenBank } from './bank-directory.js'
import type { Dependencies, Call } from './dependencies.js'
import { idempotentWrite, isCommitted, type KeyedWrite, type WriteResult } from './idempotency.js'
import { notSupported } from './memory-changes.js'
import { type CheckedItem, checkItem, prepare, type IdentifiedItem } from './preparation.js'
import { instantField, toRecord } from './records.js'
import {
  EXPORT_FORMAT as FORMAT, EXPORT_VERSION as VERSION, type ExportQuery, IMPORT_DEFAULTS, ImportLine, type ImportAnswer,
  type ImportQuery,
} from './schemas.js'

const INDEX_BATCH = 256
const LINE_FEED = 10
/** Maximum bytes of a character: an escaped surrogate pair, `\ud83d\ude00`. */
const BYTES_PER_CHARACTER = 12
/** A generous bound on the rest of a line: a hundred tags, ids, instants, and the configuration in a header. */
const LINE_OVERHEAD_BYTES = 524_288

const checkLine = schemaCheck(ImportLine)

interface ImportRequest extends ImportQuery {
  bank_id: string
  /** The NDJSON. */
  bytes: Uint8Array
  bounds: Pick<Bounds, 'import_lines'> & JsonBounds
}

/** A line of an import, and when its version ended if it is not the last of its memory. */
interface CheckedLine extends IdentifiedItem {
  at: string
  endedAt: number | null
  redacted: boolean
}

/** A checked import. */
interface CheckedImport {
  /** The bank with the settings that its memories are checked and indexed under: those of `change`, if any. */
  target: OpenBank
  /** The ids are the lines' own, or new ones. */
  lines: CheckedLine[]
  /** Number of lines whose memories have expired; they are not in `lines`. */
  expired: number
  /** The configuration of the bank that was exported, when it is to be applied. */
  change: NewBankConfig | undefined
}

/**
 * The data that the answer needs in addition to the outcome. Idempotency records keep it across releases: properties
 * may be added, but not changed.
 */
interface ImportContext {
  /** Number of lines that were not passed to the store, because they have expired. */
  expired: number
}

/** From 1. */
interface NumberedLine {
  number: number
  bytes: Buffer
}

/** The parameters of the check of a line. */
interface LineCheck {
  /** The prefix of field names in errors. */
  at: string
  now: number
  /** The trust of the importer's memories; a line can only lower it. */
  ceiling: Trust
  /** The principal of the importer. */
  writer: string | null
}

/** The lines of an export, with their line feeds. */
interface Export extends AsyncIterable<string> {
  /** Releases the resources that the store holds for the export. */
  end: () => void
}

/**
 * Exports the bank as of the call. The caller must call `end`, whether or not it reads the lines, because the store
 * may hold resources for it.
 * The signal also cancels reading from the store.
 */
export async function exportBank (
  deps: Dependencies, { bank_id: bankId, versions: isWhole = false }: ExportQuery & { bank_id: string },
  { context, signal }: Call,
): Promise<Export> {
  const { directory, store, clock } = deps
  const { key } = await directory.openOne(context, 'admin', bankId)
  if (isWhole && store.revise === undefined) throw notSupported()
  const config = (await storedConfig(deps, key))?.configuration
  const { count, memories } = await store.scan(key, clock(), signal, isWhole)
  const header = {
    format: FORMAT,
    version: VERSION,
    bank_id: bankId,
    exported_at: formatInstant(clock()),
    memory_count: count,
    config,
  }
  const iterator = memories[Symbol.asyncIterator]()
  const lines = exportLines(bankId, header, { [Symbol.asyncIterator]: () => iterator })
  return {
    [Symbol.asyncIterator]: () => lines,
    end: () => { void iterator.return?.().catch(() => {}) },
  }
}

/**
 * Imports an export: every line is checked before the first is stored, and all are stored or none. The first invalid
 * line ends it.
 * @throws ServiceError invalid_request that names the line; body_too_large; rate_limited, quota_exceeded; server_busy
 */
export async function importBank (
  deps: Dependencies, request: ImportRequest, call: Call,
): Promise<ImportAnswer> {
  const { context, idempotency, signal } = call
  const bank = await deps.directory.openOne(context, 'admin', request.bank_id)
  return await deps.idempotency.runOnce(idempotency, context, bank.key, toAnswer, async (keyed) => (
    await deps.queues.imports.run(bankKeyString(bank.key), async () => {
      const checked = await checkImport(deps, bank, request, context)
      signal?.throwIfAborted()
      return await storeImport(deps, bank, checked, request, call, keyed)
    }, signal)
  ))
}

/** Checks every line without expensive work, because the import is not admitted yet. */
async function checkImport (
  deps: Dependencies, bank: OpenBank, { bytes, config = IMPORT_DEFAULTS.config, bounds }: ImportRequest,
  context: RequestContext,
): Promise<CheckedImport> {
  const { clock, live } = deps
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  // The number of lines is checked before any of them is parsed.
  for (const { number } of linesOf(body)) {
    if (number <= bounds.import_lines) continue
    throw new ServiceError(
      'body_too_large', `The import has more than ${bounds.import_lines} lines (bounds.import_lines)`,
    )
  }
  const now = clock()
  const ceiling = live.current.trust.of(context)
  const checked: CheckedImport = { target: bank, lines: [], expired: 0, change: undefined }
  const expired = new Set<string>()
  let hasHeader = false
  for (const line of linesOf(body)) {
    if (isDue()) await giveWay()
    const value = parseLine(line, maxLineBytes(checked.target.settings), bounds)
    if (value === undefined) continue
    if (!hasHeader) {
      hasHeader = true
      const own = readHeader(value)
      if (config === 'apply' && own !== undefined) {
        Object.assign(checked, changeTo(deps, bank.key, own, context, 'line 1: config.'))
      }
      continue
    }
    const memory = checkedLine(deps, checked.target, value, {
      at: `line ${line.number}: `, now, ceiling, writer: context.principal ?? null,
    })
    const { expiresAt } = memory.item
    if (memory.endedAt !== null || expiresAt === null || expiresAt > now) checked.lines.push(memory)
    else {
      checked.expired++
      expired.add(memory.memoryId)
    }
  }
  if (!hasHeader) throw invalidField('', 'The import is empty')
  checked.lines = checked.lines.filter(({ memoryId, endedAt }) => endedAt === null || !expired.has(memoryId))
  requireLast(checked.lines)
  return checked
}

/** @throws ServiceError invalid_request for an earlier version without the last one */
function requireLast (lines: readonly CheckedLine[]): void {
  const last = new Map(lines.filter(({ endedAt }) => endedAt === null).map((line) => [line.memoryId, line]))
  const seen = new Set<string>()
  for (const { at, memoryId, endedAt, life } of lines) {
    if (endedAt === null) continue
    const version = life?.version ?? 1
    const after = last.get(memoryId)
    if (after === undefined || (after.life?.version ?? 1) <= version) {
      throw invalidField(at.replace(/: $/, ''), 'is an earlier version of a memory that the import does not have')
    }
    const id = `${memoryId}/${version}`
    if (seen.has(id)) throw invalidField(at.replace(/: $/, ''), 'is a version that the import has twice')
    seen.add(id)
  }
}

function checkedLine (
  deps: Dependencies, bank: OpenBank, value: unknown, { at, now, ceiling, writer }: LineCheck,
): CheckedLine {
  const line = readLine(value, at)
  const {
    text: content, memory_id: memoryId, bank_id: _origin, retained_at: retained, trust = ceiling,
    version, state, superseded_by: supersededBy, kind, derived_from: derivedFrom, changed_at: changed,
    changed_by: changedBy, reason, ended_at: ended, redacted = false, ...rest
  } = line
  if ((ended !== undefined || state !== undefined) && deps.store.revise === undefined) throw notSupported()
  const retainedAt = retained === undefined ? now : instantField(`${at}retained_at`, retained)
  return {
    memoryId: memoryId?.toLowerCase() ?? deps.newId(),
    retainedAt,
    trust: lowestTrust(ceiling, trust),
    changedBy: changedBy ?? writer,
    life: withoutUndefined({
      version,
      state,
      supersededBy: supersededBy?.toLowerCase(),
      kind,
      derivedFrom: derivedFrom?.map((id) => id.toLowerCase()),
      changedAt: changed === undefined ? retainedAt : instantField(`${at}changed_at`, changed),
      reason,
    }),
    at,
    endedAt: ended === undefined ? null : instantField(`${at}ended_at`, ended),
    redacted,
    item: redacted && ended !== undefined ? REDACTED : checkItem({ content, ...rest }, bank, at, 'text'),
  }
}

/** What a redacted version says. */
const REDACTED: CheckedItem = Object.freeze({ ...NOTHING_SAID, supersedes: [], redactions: [] })

async function storeImport (
  deps: Dependencies, bank: OpenBank, { target, lines, expired, change }: CheckedImport,
  { on_conflict: onConflict = IMPORT_DEFAULTS.on_conflict }: ImportRequest,
  call: Call, keyed: KeyedWrite | undefined,
): Promise<WriteResult<ImportContext, ImportOutcome>> {
  const { signal } = call
  const { admission, directory, store, indexer, clock } = deps
  const { key } = bank
  const admitted = await admission.admit('import', call, [bank], lines.length + expired)
  try {
    const memories = await indexLines(deps, target, lines, signal)
    signal?.throwIfAborted()
    const written: ImportContext = { expired }
    return await indexer.runReplacement(key, memories, async () => {
      const outcome = await store.import(key, memories, {
        now: clock(), onConflict, idempotency: idempotentWrite(keyed, written), config: change, signal,
      })
      if (change !== undefined) directory.invalidate(key)
      indexer.scheduleVectors(key, outcome.skipped === 0 ? memories : undefined)
      return { context: written, outcome }
    })
  } catch (error) {
    if (!isCommitted(error)) admitted.release()
    throw error
  }
}

/** Removes each line from the list once it is converted, so that memories are not held in both forms for long. */
async function indexLines (
  deps: Dependencies, { settings }: OpenBank, lines: CheckedLine[], signal?: AbortSignal,
): Promise<NewMemory[]> {
  const { indexer } = deps
  const memories: NewMemory[] = []
  const earlier = new Map<string, Array<NewMemory & Version>>()
  while (lines.length > 0) {
    const some = lines.splice(0, INDEX_BATCH)
    const prepared = await prepare(some, signal)
    const indexed = await indexer.index(prepared, settings.retrieval.chunk_max_characters, signal)
    for (const [index, memory] of indexed.entries()) {
      const { endedAt, redacted } = some[index]!
      if (endedAt === null) memories.push(memory)
      else earlier.set(memory.memoryId, [...earlier.get(memory.memoryId) ?? [], { ...memory, endedAt, redacted }])
    }
  }
  if (earlier.size === 0) return memories
  return memories.map((memory) => ({ ...memory, earlier: earlier.get(memory.memoryId) }))
}

/** A memory that has expired since the export counts as skipped. */
function toAnswer ({ context: { expired }, outcome }: WriteResult<ImportContext, ImportOutcome>): ImportAnswer {
  return { ...outcome, skipped: outcome.skipped + expired }
}

/** @returns the configuration in the header */
function readHeader (header: unknown): unknown {
  const { format, version, config } = (typeof header === 'object' && header !== null
    ? header
    : {}) as { format?: unknown, version?: unknown, config?: unknown }
  if (format !== FORMAT) throw invalidField('line 1', `must be the header of an export, with "format": "${FORMAT}"`)
  if (version !== VERSION) {
    throw invalidField('line 1', `must have "version": ${VERSION}, the one that this server reads`)
  }
  return config ?? undefined
}

/** A null in an export stands for an absent value. */
function readLine (value: unknown, at: string): ImportLine {
  const line: unknown = isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))
    : value
  return checkLine(line, at)
}

/** The lines without line feeds, including blank lines. */
function * linesOf (bytes: Buffer): Generator<NumberedLine> {
  for (let at = 0, number = 1; at < bytes.length; number++) {
    const found = bytes.indexOf(LINE_FEED, at)
    const end = found === -1 ? bytes.length : found
    yield { number, bytes: bytes.subarray(at, end) }
    at = end + 1
  }
}

/** Maximum bytes of a line: a longer one cannot contain a memory that the bank accepts. */
function maxLineBytes ({ barriers: { validation, metadata } }: BankSettings): number {
  return LINE_OVERHEAD_BYTES + BYTES_PER_CHARACTER * (validation.max_content_length + metadata.max_metadata_size_bytes)
}

/**
 * Parses one line, in time linear in its length.
 * @param maxBytes `maxLineBytes`
 * @returns undefined for a blank line
 * @throws ServiceError invalid_request or body_too_large, which name the line
 */
function parseLine ({ number, bytes }: NumberedLine, maxBytes: number, bounds: JsonBounds): unknown {
  if (bytes.length > maxBytes) {
    throw new ServiceError(
      'body_too_large', `Line ${number} is longer than ${maxBytes} bytes, more than a memory of this bank can take`,
    )
  }
  if (!isUtf8(bytes)) throw invalidField(`line ${number}`, 'is not valid UTF-8')
  checkJsonText(bytes, bounds, `Line ${number}`)
  const text = bytes.toString().trim()
  return text === '' ? undefined : parseSafely(text, (fault) => invalidField(`line ${number}`, fault))
}

/** A memory with who made its version and why, where that is told; of an earlier version when it ended. */
function toExported (bankId: string, memory: Memory | Version): Record<string, unknown> {
  const { changedBy, reason } = memory
  return {
    ...toRecord(bankId, memory),
    changed_by: changedBy ?? undefined,
    reason: reason ?? undefined,
    ...'endedAt' in memory && memory.endedAt !== null && {
      ended_at: formatInstant(memory.endedAt), redacted: memory.redacted || undefined,
    },
  }
}

/** The lines of an export, with line feeds: the header, followed by a line for each memory. */
async function * exportLines (
  bankId: string, header: object, memories: AsyncIterable<Memory | Version>,
): AsyncGenerator<string> {
  yield `${JSON.stringify(header)}\n`
  for await (const memory of memories) {
    if (isDue()) await giveWay()
    yield `${JSON.stringify(toExported(bankId, memory))}\n`
  }
}
