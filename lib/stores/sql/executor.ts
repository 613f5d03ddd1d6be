import type { PoolStatus } from '../vector-store.js'

/**
 * A value of a bound parameter. An array is an array of text (or nulls), whatever its elements become: statements cast
 * it (`$1::text[]::uuid[]`), so that both drivers bind it alike; it may also come as the text of an array (arrays.ts),
 * which costs them nothing. JSON goes as text and is cast.
 */
export type Param = string | number | boolean | null | ReadonlyArray<string | null>

/** What runs statements: a database, or a transaction in one. */
export interface Queries {
  /**
   * Runs one statement with parameters `$1`, `$2`, …
   * @returns rows by column name; a statement casts what the drivers would read differently: bigint and numeric to
   * float8 or int, an array that may hold a null to JSON
   * @throws SqlError
   */
  query<R extends object> (text: string, params?: readonly Param[]): Promise<R[]>
}

/**
 * One database. The same statements run on each: PostgreSQL over the network, and PGlite in a thread of this process.
 */
export interface Executor extends Queries {
  query<R extends object> (text: string, params?: readonly Param[], options?: WaitOptions): Promise<R[]>
  /**
   * Like `query`, for a statement that only reads: it is asked once more when the connection was lost under it.
   * @throws SqlError
   */
  read<R extends object> (text: string, params?: readonly Param[], options?: ReadOptions): Promise<R[]>
  /**
   * Runs the work in one transaction; it is rolled back when the work rejects. Inside, only `tx` may be used.
   * @throws SqlError, and whatever the work rejects with
   */
  transaction<T> (work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** Runs a statement outside any transaction and without a time limit, for the building of indexes. */
  maintain (text: string): Promise<void>
  /** How the connections stand that calls wait for. */
  status? (): PoolStatus
  /** Ends what is under way and lets the database go. A second call does nothing. */
  close (): Promise<void>
}

/** The wait for a connection, before anything is asked. */
export interface WaitOptions {
  /** Gives the wait up: the call rejects with the signal's reason. What has begun is not touched by it. */
  signal?: AbortSignal | undefined
  /** The bank that is worked on (bankKeyString). Banks that wait share the connections evenly. */
  flow?: string | undefined
}

/** Single statements, each of which is a transaction by itself and waits for its connection with these options. */
export function statementsOf (executor: Executor, options: WaitOptions): Queries {
  return { query: async (text, params) => await executor.query(text, params, options) }
}

export interface ReadOptions extends WaitOptions {
  /**
   * Planned once and not for each set of parameters, which can cost more than the search of a small bank. Default
   * false.
   */
  keepPlan?: boolean
}

export interface TransactionOptions extends WaitOptions {
  /** Only reads, and all of it from one moment (REPEATABLE READ READ ONLY); otherwise READ COMMITTED. */
  snapshot?: boolean
  /**
   * Its statements may take as long as the work on a whole bank takes: an export, an import, a removal of everything.
   */
  bulk?: boolean
  /**
   * Its statements are planned once and not for each set of parameters: for the few rows of a small write. Default
   * false.
   */
  keepPlans?: boolean
}

export interface Transaction extends Queries {
  /** Runs a script of several statements without parameters; for migrations. */
  script (text: string): Promise<void>
}

/**
 * What went wrong: the database cannot be reached or went away (`connection`), did not answer in time (`timeout`), has
 * no connection to spare (`busy`), has no room left (`full`), or refused the statement (`statement`).
 */
export type SqlErrorKind = 'connection' | 'timeout' | 'busy' | 'full' | 'statement'

/**
 * The one error of an executor. Its message goes to the log, so it never holds a parameter: driver errors carry the
 * texts and embeddings that were bound, and are neither passed on nor kept as `cause`.
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

/** The SQLSTATE classes whose messages speak of the server and never of a row. */
const TELLING_CLASSES = new Set(['08', '25', '28', '3D', '3F', '40', '42', '53', '55', '57', '58', 'XX', 'F0'])

/** Makes an SqlError of what PostgreSQL said, on either driver: `fields` are those of its error message. */
export function fromDatabase (
  fields: { code?: unknown, message?: unknown, constraint_name?: unknown, constraint?: unknown },
): SqlError {
  const code = typeof fields.code === 'string' ? fields.code : undefined
  const found = fields.constraint_name ?? fields.constraint
  const constraint = typeof found === 'string' ? found : undefined
  const telling = code !== undefined && TELLING_CLASSES.has(code.slice(0, 2)) && typeof fields.message === 'string'
  const said = telling ? `: ${String(fields.message)}` : ''
  const about = constraint === undefined ? '' : ` (${constraint})`
  return new SqlError(kindOf(code), `The database answered ${code ?? 'an error'}${about}${said}`, { code, constraint })
}

function kindOf (code: string | undefined): SqlErrorKind {
  // admin_shutdown, crash_shutdown, cannot_connect_now, database_dropped, and the whole class of connection exceptions
  if (code !== undefined && (['57P01', '57P02', '57P03', '57P04'].includes(code) || code.startsWith('08'))) return 'connection'
  if (code === '57014' || code === '25P03' || code === '55P03') return 'timeout'
  if (code === '53300') return 'busy'
  if (code !== undefined && code.startsWith('53')) return 'full'
  if (code === '58030') return 'full'
  return 'statement'
}
