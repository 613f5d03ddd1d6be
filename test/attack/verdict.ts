/*
 * What decides whether an input passes: pure functions over what the prober and the target said.
 */

/** A probe asks every so many milliseconds ... */
export const PROBE_EVERY_MS = 5
/** ... and is missed when it has no answer by then. */
export const MISSED_AFTER_MS = 100
/** A single missed probe may be the machine's; from so many in a row on it is the server's. */
export const MISSES_IN_A_ROW = 2
/**
 * A probe on a new connection also waits until the server takes the connection: the second of a usual liveness probe.
 */
export const FRESH_MISSED_AFTER_MS = 1000
/** Most that the process may have resident, in megabytes. */
export const MOST_MEGABYTES = 400
/**
 * Most that an input may add where the database is in the process and has most of it: what MOST_MEGABYTES leaves to a
 * gateway that has some 150 MB when it does nothing.
 */
export const MOST_MEGABYTES_ADDED = 250
/** The connections of a pool and of the prober may come and go. */
export const DESCRIPTORS_SPARED = 16
/** What the soak may grow by. */
export const MOST_MIB_A_MINUTE = 1

/** A time in which a server owed an answer, in milliseconds of one clock. */
export interface Wait {
  from: number
  to: number
  /**
   * Of it, how long the server was ready to run and the machine had no processor for it; milliseconds, 0 where that is
   * not known.
   */
  queuedMs: number
}

/**
 * How long a server let a probe wait, less what was the machine's: the time in which an idle server of another process
 * was late too, or in which this one was ready to run and had no processor. Both may be the same time, so that the
 * longer one counts.
 * @param idle waits for the idle server, in the order of their beginning, none over another
 */
export function ownWait (wait: Wait, idle: readonly Wait[]): number {
  const late =
    idle.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(wait.to, to) - Math.max(wait.from, from)), 0)
  return Math.max(0, wait.to - wait.from - Math.max(late, wait.queuedMs))
}

/** Probes that go without an answer in time during a wait, when one is sent every PROBE_EVERY_MS. */
export function missedProbes (waitMs: number): number {
  return waitMs <= MISSED_AFTER_MS ? 0 : Math.floor((waitMs - MISSED_AFTER_MS) / PROBE_EVERY_MS) + 1
}

/** What came of one input. */
export interface Measured {
  /** Whether the process was there at the end. */
  alive: boolean
  /**
   * Longest time without an answer on the kept connection and on new ones, the machine's share taken off; milliseconds.
   */
  worstMs: number
  freshWorstMs: number
  /** Null where there is no /proc. */
  peakMb: number | null
  /** What was resident when the server had started, if the database is in its process; null elsewhere. */
  idleMb: number | null
  /** Answers that the rule does not allow, each with its count. */
  badAnswers: readonly string[]
  /** What the input itself found wrong. */
  faults: readonly string[]
  /** Descriptors and temporary files that were left over. */
  descriptorsLeft: number
  filesLeft: number
}

/** @returns what is wrong; an input with none has passed */
export function faultsOf (measured: Measured): string[] {
  if (!measured.alive) return ['the process died', ...measured.faults]
  const faults = [...measured.faults]
  const missed = missedProbes(measured.worstMs)
  if (missed >= MISSES_IN_A_ROW) faults.push(`${missed} probes missed`)
  if (measured.freshWorstMs > FRESH_MISSED_AFTER_MS) faults.push(`new connections waited ${Math.round(measured.freshWorstMs)} ms`)
  faults.push(...memoryFaults(measured))
  if (measured.badAnswers.length > 0) faults.push(`answers: ${measured.badAnswers.join(', ')}`)
  if (measured.descriptorsLeft > DESCRIPTORS_SPARED) faults.push(`${measured.descriptorsLeft} descriptors left`)
  if (measured.filesLeft > 0) faults.push(`${measured.filesLeft} files left`)
  return faults
}

function memoryFaults ({ peakMb, idleMb }: Measured): string[] {
  if (peakMb === null) return []
  if (idleMb === null) return peakMb > MOST_MEGABYTES ? [`${Math.round(peakMb)} MB`] : []
  const added = peakMb - idleMb
  return added > MOST_MEGABYTES_ADDED ? [`${Math.round(added)} MB added to ${Math.round(idleMb)} MB`] : []
}

/** Whether an answer keeps the rule: done, refused, or too busy; a closed connection is a refusal too. */
export function isAllowed (status: string, allowed?: readonly string[]): boolean {
  return allowed === undefined ? /^(?:2\d\d|4\d\d|503|closed)$/.test(status) : allowed.includes(status)
}

/**
 * A machine's noise can fail an input, but not when it is repeated; a dead process or a second without an answer
 * does not.
 */
export function isWorthRepeating (measured: Measured): boolean {
  return measured.alive && measured.worstMs < 1000 && measured.badAnswers.length === 0
}

/** One figure at a time, in minutes. */
export interface Sample {
  minute: number
  mib: number
}

/**
 * The rise of the samples of the last two thirds of the time, and none before `warm`: the median of the slopes between
 * any two of them (Theil and Sen), which neither a single high value nor the end of a saw-tooth moves.
 * @param warm the minute from which everything was done once: until then code is compiled and caches fill
 * @returns MiB a minute; NaN for fewer than two samples
 */
export function slopeOfLastTwoThirds (samples: readonly Sample[], warm = 0): number {
  const last = samples.at(-1)
  if (last === undefined) return NaN
  const first = samples[0]!.minute
  const from = Math.max(warm, first + (last.minute - first) / 3)
  const used = samples.filter(({ minute }) => minute >= from)
  const slopes = used.flatMap((a, index) => used.slice(index + 1)
    .flatMap((b) => b.minute > a.minute ? [(b.mib - a.mib) / (b.minute - a.minute)] : []))
  const sorted = slopes.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2
}
