import postgres from 'postgres'
import { TIMED_OUT, withTimeout } from '../../concurrency/timeout.js'
import { arrayElements, arrayNumbers, arrayText } from './arrays.js'
import { fromDatabase, SqlError, type Param } from './executor.js'

export interface ConnectionOptions {
  /** Connection URI. */
  url: string
  connectTimeoutMs: number
  /** The server's own limit of a statement; 0: none. */
  statementTimeoutMs: number
  /** The connection is a pooler's in transaction mode: no prepared statements, no settings of the session. */
  transactionPooler: boolean
}

/** The arrays that statements bind (text[]) and answer, by the numbers of their types. */
const TEXTS = 1009
const SMALLINTS = 1005
const INTEGERS = 1007
const REALS = 1021
const DOUBLES = 1022
const ARRAYS = {
  // An array that was made a text before is taken as it is.
  texts: { to: TEXTS, from: [TEXTS], serialize: (value: string | ReadonlyArray<string | null>) => typeof value === 'string' ? value : arrayText(value), parse: arrayElements },
  numbers: {
    to: INTEGERS,
    from: [SMALLINTS, INTEGERS, REALS, DOUBLES],
    serialize: arrayText,
    parse: arrayNumbers,
  },
}

/** How long a statement that was cancelled has to end before its connection is cut. */
const CANCEL_GRACE_S = 1
/** How long transactions that are left open by a gateway that went away are kept, on the server's side. */
const IDLE_IN_TRANSACTION_MS = 60_000

/**
 * The codes of postgres.js and of Node's sockets for a database that is not there: not a server's answer, so without an
 * SQLSTATE.
 */
const CONNECTION_CODE = /^(CONNECTION_|CONNECT_|E[A-Z]+|ERR_|UND_)/

const DEFAULT_PORT = 5432

/** What the codes mean that a wrong host or port ends in. */
const HINTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: ' (nothing listens on that port)',
  ENOTFOUND: ' (the host name is not known)',
  EAI_AGAIN: ' (the host name cannot be resolved at the moment)',
  CONNECT_TIMEOUT: ' (nobody answers there)',
}

/**
 * One connection, which its first statement opens and which is never opened again. The driver's own pool is not used:
 * it opens a connection anew under a transaction that has lost it, and its rollback is then written to no socket, which
 * ends the process, or to somebody else's transaction. One client a connection, given up with it, can do neither.
 */
export class Connection {
  readonly #sql: postgres.Sql
  /** Host and port, for messages. */
  readonly #place: string
  readonly #connectMs: number
  readonly #prepare: boolean
  /** What ends the waits that are under way. */
  readonly #waits = new Set<(error: SqlError) => void>()
  #answered = false
  #keepsPlans = false
  #lost = false
  #ended: Promise<void> | undefined

  constructor ({ url, connectTimeoutMs, statementTimeoutMs, transactionPooler }: ConnectionOptions) {
    const connectTimeout = Math.max(1, Math.ceil(connectTimeoutMs / 1000))
    this.#connectMs = connectTimeout * 1000
    this.#prepare = !transactionPooler
    const { hosts, port } = placeOf(url)
    this.#place = hosts.map((host) => `${host}:${port}`).join(', ')
    // Lists, which its types do not know: the driver cuts a host in a text at its first colon, and takes PGPORT for a
    // URI without a port.
    const where: object = { host: hosts.map((host) => host.replace(/^\[(.*)\]$/, '$1')), port: hosts.map(() => port) }
    this.#sql = postgres(url, {
      ...where,
      max: 1,
      connect_timeout: connectTimeout,
      // The driver would end it between two statements of a transaction, of which it knows nothing.
      max_lifetime: null,
      prepare: !transactionPooler,
      // The driver asks each new connection for the types of arrays, and nobody catches what that rejects with: a
      // backend that is ended in the middle of it would end this process.
      fetch_types: false,
      types: ARRAYS,
      onnotice: () => {},
      // The driver forgets a statement that it was given between the socket's error and its close.
      onclose: () => {
        this.#lost = true
        for (const refuse of this.#waits) refuse(lost())
      },
      connection: {
        application_name: 'memory-gateway',
        ...(!transactionPooler && {
          statement_timeout: statementTimeoutMs,
          idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
          // A generic plan cannot know a small bank from a big one, nor use the index that is a big bank's own.
          plan_cache_mode: 'force_custom_plan',
          // No statement on a bank should read other banks, which a plan for a bank of unknown size may think cheaper.
          enable_seqscan: false,
          jit: false,
        }),
      },
    })
  }

  /** Whether it can no longer be used. */
  get lost (): boolean {
    return this.#lost
  }

  /**
   * Whether statements from here on are planned once or each time. The setting goes ahead of the next statement in one
   * packet, so it costs no round trip; not to be changed within a transaction, whose rollback would take it back.
   */
  keepPlans (keep: boolean): void {
    if (!this.#prepare || this.#lost || keep === this.#keepsPlans) return
    this.#keepsPlans = keep
    // What goes wrong here goes wrong with the connection, and with the statement behind it.
    this.#sql.unsafe(`set plan_cache_mode = ${keep ? 'force_generic_plan' : 'force_custom_plan'}`).catch(() => {})
  }

  /**
   * Asks, and waits no longer than the limit and the time that opening may take: the server's own limit comes first
   * where it is there to keep it. 0: waits however long it takes.
   * @returns rows, and the command that the server says it did
   * @throws SqlError
   */
  async ask<R extends object> (
    text: string, params: readonly Param[], limitMs: number,
  ): Promise<{ rows: R[], command: string }> {
    // The driver would open another connection, outside the transaction that was on this one.
    if (this.#lost) throw lost()
    const pending = this.#sql.unsafe(text, params as postgres.ParameterOrJSON<never>[], { prepare: this.#prepare })
    let refuse!: (error: SqlError) => void
    const refused = new Promise<never>((_resolve, reject) => { refuse = reject })
    this.#waits.add(refuse)
    const ms = limitMs === 0 ? Infinity : limitMs + this.#connectMs
    try {
      const result = await withTimeout(Promise.race([pending, refused]), ms)
      if (result === TIMED_OUT) {
        cancel(pending)
        void this.end(CANCEL_GRACE_S)
        throw new SqlError('timeout', `The database did not answer within ${ms} ms`)
      }
      this.#answered = true
      return { rows: [...result] as unknown as R[], command: result.command }
    } catch (error) {
      const known = toSqlError(error, this.#place)
      const fatal = error instanceof postgres.PostgresError && error.severity !== 'ERROR'
      // One that was not opened is not tried again either: the next is another.
      if (known.kind === 'connection' || fatal || !this.#answered) this.#lost = true
      throw known
    } finally {
      this.#waits.delete(refuse)
    }
  }

  /** Lets go of it: what is under way has so long, then it is cut. A second call waits for the first. */
  async end (seconds = 0): Promise<void> {
    this.#lost = true
    this.#ended ??= this.#sql.end({ timeout: seconds }).catch(() => {})
    await this.#ended
  }
}

function lost (): SqlError {
  return new SqlError('connection', 'The connection to the database was lost')
}

/**
 * Asks the server to end a statement. The driver's cancel() drops a promise that rejects when the server cannot be
 * told, and that would end the process; this is the function behind it.
 */
function cancel (pending: object): void {
  const canceller: unknown = Reflect.get(pending, 'canceller')
  if (typeof canceller !== 'function') return
  void Promise.resolve((canceller as (query: object) => unknown)(pending)).catch(() => {})
}

/** Where the URI leads; nothing else of it may be said. */
function placeOf (url: string): { hosts: string[], port: number } {
  const { hostname, port } = new URL(url)
  return { hosts: hostname.split(','), port: port === '' ? DEFAULT_PORT : Number(port) }
}

/**
 * @param place host and port of the database
 * @returns an error without anything of what was bound
 */
export function toSqlError (error: unknown, place: string): SqlError {
  if (error instanceof SqlError) return error
  if (error instanceof postgres.PostgresError) return fromDatabase(error)
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
  if (code !== undefined && CONNECTION_CODE.test(code)) return new SqlError('connection', `The database at ${place} cannot be reached: ${code}${HINTS[code] ?? ''}`, { code })
  return new SqlError('statement', `The database driver failed${code === undefined ? '' : `: ${code}`}`, { code })
}
