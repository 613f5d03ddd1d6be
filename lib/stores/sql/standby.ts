import { bankKeyString, type BankKey } from '../../access/context.js'
import { SqlError, type Executor } from './executor.js'

interface StandbyOptions {
  primary: Executor
  /** Connected to the standby. */
  standby: Executor
  /** Reads are sent to the standby while it lacks no write that is older than this, in milliseconds. */
  maxStalenessMs: number
  /** A monotonic clock in milliseconds. */
  timer: () => number
  /** Interval of the measurements, in milliseconds; 0: only on request. */
  intervalMs: number
}

/** The position of the primary's log at an instant: whoever has replayed up to it has every write from before. */
interface Sample {
  readonly at: number
  readonly position: number
}

/** Samples that are kept; a standby that is further behind is not used anyway. */
const MAX_SAMPLES = 100
/** Banks whose last write is remembered; beyond, every bank counts as written when the last of them was. */
const MAX_WRITES = 10_000

/**
 * Decides which reads a streaming standby may answer: it lags at most `maxStalenessMs`, and has every write of this
 * process to the banks that are read. How far it is follows from positions of the primary's log, each noted with the
 * time before it was asked for, so neither clocks of other machines nor the idle time of the primary matter.
 */
export class Standby {
  readonly executor: Executor
  readonly #options: StandbyOptions
  #samples: Sample[] = []
  /** The standby has every write from before this instant. */
  #freshAsOf = -Infinity
  /** When the last write to a bank ended, by bank, while the standby may lack it. */
  #writes = new Map<string, number>()
  #writtenAt = -Infinity
  /** When the last write ended that was not remembered. */
  #unknownAt = -Infinity
  #isUsed: boolean | undefined
  #timer: NodeJS.Timeout | undefined
  #inFlight: Promise<void> | undefined
  #warn: (message: string) => void = () => {}

  constructor (options: StandbyOptions) {
    this.#options = options
    this.executor = options.standby
  }

  start (warn: (message: string) => void): void {
    this.#warn = warn
    const { intervalMs } = this.#options
    if (intervalMs === 0) return
    this.#timer = setInterval(() => {
      this.#inFlight ??= this.measure().finally(() => { this.#inFlight = undefined })
    }, intervalMs).unref()
  }

  async stop (): Promise<void> {
    clearInterval(this.#timer)
    await this.executor.close()
    await this.#inFlight
  }

  /** To be called when a write to the bank has ended, even with an error, after which it may be committed. */
  noteWrite (bank: BankKey): void {
    this.#writtenAt = this.#options.timer()
    if (this.#writes.size < MAX_WRITES) this.#writes.set(bankKeyString(bank), this.#writtenAt)
    else this.#unknownAt = this.#writtenAt
  }

  /**
   * Reads from the standby if it is fresh enough, and from the primary if it is not or fails.
   * @param banks that are read; absent: any
   */
  async read<T> (
    banks: readonly BankKey[] | undefined, onStandby: () => Promise<T>, onPrimary: () => Promise<T>,
  ): Promise<T> {
    if (!this.isFresh(banks)) return await onPrimary()
    try {
      return await onStandby()
    } catch (error) {
      // A standby cancels a statement (40001) that its replay would have to wait for. What was too slow there is not
      // tried again: the caller has waited long enough.
      const isOther = error instanceof SqlError &&
        (error.kind === 'connection' || error.kind === 'busy' || error.code === '40001')
      if (!isOther) throw error
      if (error.kind === 'connection') this.#note(-Infinity, error.message)
      return await onPrimary()
    }
  }

  isFresh (banks: readonly BankKey[] | undefined): boolean {
    const { timer, maxStalenessMs } = this.#options
    if (this.#freshAsOf < timer() - maxStalenessMs) return false
    if (this.#freshAsOf >= this.#writtenAt) return true
    return banks !== undefined && this.#freshAsOf >= this.#unknownAt &&
      banks.every((bank) => (this.#writes.get(bankKeyString(bank)) ?? -Infinity) <= this.#freshAsOf)
  }

  /** Asks the primary where its log ends, and the standby how far it is. */
  async measure (): Promise<void> {
    const { primary, standby, timer, maxStalenessMs } = this.#options
    const at = timer()
    try {
      const [written] = await primary.read<{ position: number | null }>(
        // Of what is inserted, not of what is written: with `synchronous_commit = off` a commit is answered before.
        'select (case when pg_is_in_recovery() then null else pg_current_wal_insert_lsn() - \'0/0\' end)::float8 ' +
          'as position',
      )
      if (written?.position != null) {
        this.#samples = [...this.#samples.slice(1 - MAX_SAMPLES), { at, position: written.position }]
      }
      const [replayed] = await standby.read<{ position: number | null }>(
        // One that receives nothing may be on the log of a primary that was replaced.
        'select (case when pg_is_in_recovery() and exists (select 1 from pg_stat_wal_receiver) ' +
          'then pg_last_wal_replay_lsn() - \'0/0\' end)::float8 as position',
      )
      const position = replayed?.position
      if (position == null) return this.#note(-Infinity, 'the server of read_dsn is not a streaming standby')
      const reached = this.#samples.findLast((sample) => sample.position <= position)
      if (reached !== undefined) this.#samples = this.#samples.filter((sample) => sample.at >= reached.at)
      const freshAsOf = Math.max(this.#freshAsOf, reached?.at ?? -Infinity)
      const isLate = timer() - freshAsOf > maxStalenessMs
      this.#note(freshAsOf, isLate ? `it lacks writes that are older than ${maxStalenessMs} ms` : undefined)
    } catch (error) {
      this.#note(-Infinity, error instanceof Error ? error.message : String(error))
    }
  }

  /** @param fault why the standby is not used, which is told when it changes */
  #note (freshAsOf: number, fault?: string): void {
    this.#freshAsOf = freshAsOf
    for (const [key, at] of this.#writes) if (at <= freshAsOf) this.#writes.delete(key)
    const isUsed = fault === undefined
    if (this.#isUsed !== undefined && this.#isUsed === isUsed) return
    if (fault !== undefined) this.#warn(`vector_store_config.read_dsn: reads go to the primary: ${fault}`)
    else if (this.#isUsed === false) this.#warn('vector_store_config.read_dsn: reads go to the standby again')
    this.#isUsed = isUsed
  }
}
