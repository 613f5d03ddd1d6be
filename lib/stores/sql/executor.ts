import { exponentialBackOff, retry } from '../../base/retry.js'
import { Semaphore, type SemaphoreOptions } from '../../base/semaphore.js'
import type { PoolStatus } from '../vector-store.js'

/**
 * A value of a bound parameter. An array has elements of text or null, whatever type they are cast to: statements cast
 * it (`$1::text[]::uuid[]`), so that both drivers bind it alike. It may also be passed as the text of an array
 * (`arrayText`), which the drivers do not convert. JSON is passed as text and cast.
 */
export type Param = string | number | boolean | null | ReadonlyArray<string | null>

/** Runs statements: on a database, or in a transaction. */
export interface Queries {
  /**
   * Runs one statement with parameters `$1`, `$2`, …
   * @returns rows by column name; statements cast the types that the drivers parse differently: bigint and numeric to
   * float8 or int, arrays that may contain null to JSON
   * @throws SqlError
   */
  query<R extends object> (text: string, params?: readonly Param[]): Promise<R[]>
}

/** A database. The same statements run on PostgreSQL over the network, and on PGlite in a thread of this process. */
export interface Executor extends Queries {
  query<R extends object> (text: string, params?: readonly Param[], options?: WaitOptions): Promise<R[]>
  /**
   * Like `query`, for a statement that only reads: it is retried once when the connection was lost.
   * @throws SqlError
   */
  read<R extends object> (text: string, params?: readonly Param[], options?: ReadOptions): Promise<R[]>
  /**
   * Runs the work in one transaction; it is rolled back when the work rejects. Inside, only `tx` may be used.
   * @throws SqlError, and whatever the work rejects with
   */
  transaction<T> (work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** Runs a statement outside any transaction and without a time limit, to build indexes. */
  maintain (text: string): Promise<void>
  /** The state of the connection pool. */
  status? (): PoolStatus
  /** Stops pending work and releases the database. A second call does nothing. */
  close (): Promise<void>
}

/** The wait for a connection, before a statement is sent. */
export interface WaitOptions {
  /** Cancels the wait: the call rejects with the signal's reason. Has no effect once work has begun. */
  signal?: AbortSignal | undefined
}

export interface ReadOptions extends WaitOptions {
  /**
   * Uses a generic plan instead of planning for each set of parameters, which can cost more than the search of a small
   * bank. Default false.
   */
  keepPlan?: boolean
  /** Uses a new connection: an idle one may be lost, or may keep the state that the database had. Default false. */
  fresh?: boolean
}

export interface TransactionOptions extends WaitOptions {
  /** Read-only, with one snapshot for all statements (REPEATABLE READ READ ONLY); otherwise READ COMMITTED. */
  snapshot?: boolean
  /**
   * The time limit of its statements is that of work on a whole bank: an export, an import, a removal of all memories.
   */
  bulk?: boolean
  /** Uses generic plans instead of planning for each set of parameters: for a write of few rows. Default false. */
  keepPlans?: boolean
}

export interface Transaction extends Queries {
  /** Runs a script of several statements without parameters; for migrations. */
  script (text: string): Promise<void>
}

/**
 * The database cannot be reached or the connection was lost (`connection`), it did not answer in time (`timeout`), no
 * connection is free (`busy`), there is no space left (`full`), or it refused the statement (`statement`).
 */
export type SqlErrorKind = 'connection' | 'timeout' | 'busy' | 'full' | 'statement'

/**
 * The only error of an executor. Its message is logged, so it never contains a parameter: driver errors carry bound
 * texts and embeddings, and are neither passed on nor kept as `cause`.
 */
export class SqlError extends Error {
  readonly kind: SqlErrorKind
  /** SQLSTATE, where the database gave one. */
  readonly code: string | undefined
  /** Name of the violated constraint. */
  readonly constraint: string | undefined

  constructor (
    kind: SqlErrorKind, message: string,
    { code, constraint }: { code?: string | undefined, constraint?: string | undefined } = {},
  ) {
    super(message)
    this.name = 'SqlError'
    this.kind = kind
    this.code = code
    this.constraint = constraint
  }
}

/** The SQLSTATE classes whose messages are about the server and never contain row data. */
const SAFE_CLASSES = new Set(['08', '25', '28', '3D', '3F', '40', '42', '53', '55', '57', '58', 'XX', 'F0'])

/** Makes an SqlError from PostgreSQL's error, with either driver: `fields` are those of the error message. */
export function fromDatabase (
  fields: { code?: unknown, message?: unknown, constraint_name?: unknown, constraint?: unknown },
): SqlError {
  const code = typeof fields.code === 'string' ? fields.code : undefined
  const found = fields.constraint_name ?? fields.constraint
  const constraint = typeof found === 'string' ? found : undefined
  const isSafe = code !== undefined && SAFE_CLASSES.has(code.slice(0, 2)) && typeof fields.message === 'string'
  const safeMessage = isSafe ? `: ${String(fields.message)}` : ''
  const about = constraint === undefined ? '' : ` (${constraint})`
  return new SqlError(
    kindOf(code), `The database answered ${code ?? 'an error'}${about}${safeMessage}`, { code, constraint },
  )
}

function kindOf (code: string | undefined): SqlErrorKind {
  // admin_shutdown, crash_shutdown, cannot_connect_now, database_dropped, and the whole class of connection exceptions
  if (code !== undefined && (['57P01', '57P02', '57P03', '57P04'].includes(code) || code.startsWith('08'))) {
    return 'connection'
  }
  if (code === '57014' || code === '25P03' || code === '55P03') return 'timeout'
  if (code === '53300') return 'busy'
  if (code !== undefined && code.startsWith('53')) return 'full'
  if (code === '58030') return 'full'
  return 'statement'
}

type Limits = Pick<SemaphoreOptions, 'permits' | 'maxWaiting'> & { waitMs: number }

/** A permit for each connection. */
export function connectionSemaphore (limits: Limits): Semaphore {
  return busySemaphore('connections', 'are in use, and none came free', limits)
}

/**
 * A caller that would wait too long, or behind too many others, is refused, so that callers do not queue without bound.
 * @param resource what there is a permit for, in the plural
 * @param holdersDid what those whose permits are held did while the caller waited
 */
export function busySemaphore (resource: string, holdersDid: string, options: Limits): Semaphore {
  const { permits, maxWaiting } = options
  return new Semaphore({
    ...options,
    queueFullError: () => new SqlError('busy', `${maxWaiting} callers wait for one of ${permits} ${resource}`),
    timeoutError: (waitMs) => new SqlError('busy', `${permits} ${resource} ${holdersDid} within ${waitMs} ms`),
  })
}

export function poolStatus ({ permits, held, waiting }: Semaphore): PoolStatus {
  return { size: permits, inUse: held, waiting }
}

export function closedError (): SqlError {
  return new SqlError('connection', 'The store is closed')
}

const ATTEMPTS = 8
/** Maximum of the first pause, in milliseconds. */
const PAUSE_MS = 10

/** Whether a write was certainly rolled back and may be retried: a deadlock or a serialization failure. */
export function isSerializationFailure (error: unknown): boolean {
  return error instanceof SqlError && (error.code === '40P01' || error.code === '40001')
}

/** Whether a write used an id that exists already. */
export function isUniqueViolation (error: unknown): boolean {
  return error instanceof SqlError && error.code === '23505'
}

/** Thrown by work that has to be rolled back and retried. */
export function serializationFailure (reason: string): SqlError {
  return new SqlError('statement', reason, { code: '40001' })
}

/**
 * Retries work that was rolled back. The pauses are random, so that transactions that collided do not collide again.
 */
export async function retrySerializationFailures<T> (work: () => Promise<T>): Promise<T> {
  return await retry(work, {
    delayMs: (error, failures) => {
      if (!isSerializationFailure(error) || failures === ATTEMPTS) return undefined
      return Math.random() * exponentialBackOff(failures, PAUSE_MS)
    },
  })
}

/** A one-dimensional array in PostgreSQL's array syntax; every element is text or null. */
export function arrayText (elements: ReadonlyArray<string | null>): string {
  return arrayOf(elements.map(arrayElement))
}

/** An element as written in the text of an array. */
export function arrayElement (element: string | null): string {
  if (element === null) return 'NULL'
  return `"${element.includes('"') || element.includes('\\') ? element.replaceAll(/["\\]/g, '\\$&') : element}"`
}

/** The text of an array whose elements were written by arrayElement. */
export function arrayOf (elements: readonly string[]): string {
  return `{${elements.join(',')}}`
}

const ELEMENT = /"([^"\\]*(?:\\.[^"\\]*)*)"|([^,]+)/gs

/** Parses a one-dimensional array in PostgreSQL's output syntax. */
export function arrayElements (text: string): Array<string | null> {
  if (!text.includes('"')) return bareElements(text).map((element) => element === 'NULL' ? null : element)
  return Array.from(text.slice(1, -1).matchAll(ELEMENT), ([, quoted, bare]) => {
    if (quoted !== undefined) return quoted.replaceAll(/\\(.)/gs, '$1')
    return bare === undefined || bare === 'NULL' ? null : bare
  })
}

/** Occurs in NULL, NaN and Infinity, which arrays of numbers may contain and JSON may not. */
const NOT_JSON = /[NI]/

/** Parses a one-dimensional array of numbers. A search returns two such arrays for each memory. */
export function arrayNumbers (text: string): Array<number | null> {
  if (NOT_JSON.test(text)) return bareElements(text).map((element) => element === 'NULL' ? null : Number(element))
  const numbers: number[] = JSON.parse(`[${text.slice(1, -1)}]`)
  return numbers
}

/** Parses an array without quoted elements, the usual case, much faster than the regular expression. */
function bareElements (text: string): string[] {
  return text === '{}' ? [] : text.slice(1, -1).split(',')
}
