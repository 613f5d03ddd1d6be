/*
 * Decides whether an input passes: pure functions over the measurements of the prober and the target.
 */

/** The interval of the probes. */
export const PROBE_EVERY_MS = 5
/** A probe without an answer after this time counts as missed. */
export const MISSED_AFTER_MS = 100
/** The number of missed probes in a row that is a fault; a single one may be noise of the machine. */
export const MAX_CONSECUTIVE_MISSES = 2
/**
 * A probe on a new connection also waits until the server accepts it. A second is the usual limit of liveness probes.
 */
export const NEW_CONNECTION_MISSED_AFTER_MS = 1000
/** The maximum resident memory of the process, in megabytes. */
export const MAX_MEGABYTES = 400
/**
 * The maximum that an input may add when the database is in the process. It is MAX_MEGABYTES minus the some 150 MB of
 * an idle gateway.
 */
export const MAX_MEGABYTES_ADDED = 250
/** Descriptors that may remain open, because the connections of a pool and of the prober change. */
export const MAX_EXTRA_DESCRIPTORS = 16
/** The maximum growth during a soak. */
export const MAX_GROWTH_MIB_PER_MINUTE = 1

/** A time in which an answer was outstanding, in milliseconds of one clock. */
export interface Wait {
  from: number
  to: number
  /**
   * The part in which the server was ready to run but had no processor, in milliseconds; 0 where it is not known.
   */
  queuedMs: number
}

/**
 * The part of a wait that the server caused. The delay of the machine is subtracted: the time in which an idle server
 * in another process was late too, or in which this server was ready to run but had no processor. Both may be the same
 * time, so only the longer one is subtracted.
 * @param idle waits for the idle server, in the order of their beginning, without overlaps
 */
export function serverWait (wait: Wait, idle: readonly Wait[]): number {
  const late =
    idle.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(wait.to, to) - Math.max(wait.from, from)), 0)
  return Math.max(0, wait.to - wait.from - Math.max(late, wait.queuedMs))
}

/** Probes that go without an answer in time during a wait, when one is sent every PROBE_EVERY_MS. */
export function missedProbes (waitMs: number): number {
  return waitMs <= MISSED_AFTER_MS ? 0 : Math.floor((waitMs - MISSED_AFTER_MS) / PROBE_EVERY_MS) + 1
}

/** The measurements of one input. */
export interface Measured {
  /** Whether the process was still running at the end. */
  alive: boolean
  /**
   * Longest time without an answer on the kept connection and on new ones, without the delay of the machine, in ms.
   */
  worstMs: number
  newConnectionWorstMs: number
  /** Null where there is no /proc. */
  peakMb: number | null
  /** Resident memory after the start, if the database is in the process; null elsewhere. */
  idleMb: number | null
  /** Answers that the rule does not allow, each with its count. */
  badAnswers: readonly string[]
  /** Faults that the input itself found. */
  faults: readonly string[]
  /** Descriptors that remained open, and temporary files that were not removed. */
  descriptorsLeft: number
  filesLeft: number
}

/** @returns the faults; an input without faults has passed */
export function faultsOf (measured: Measured): string[] {
  if (!measured.alive) return ['the process died', ...measured.faults]
  const faults = [...measured.faults]
  const missed = missedProbes(measured.worstMs)
  if (missed >= MAX_CONSECUTIVE_MISSES) faults.push(`${missed} probes missed`)
  if (measured.newConnectionWorstMs > NEW_CONNECTION_MISSED_AFTER_MS) {
    faults.push(`new connections waited ${Math.round(measured.newConnectionWorstMs)} ms`)
  }
  faults.push(...memoryFaults(measured))
  if (measured.badAnswers.length > 0) faults.push(`answers: ${measured.badAnswers.join(', ')}`)
  if (measured.descriptorsLeft > MAX_EXTRA_DESCRIPTORS) faults.push(`${measured.descriptorsLeft} descriptors left`)
  if (measured.filesLeft > 0) faults.push(`${measured.filesLeft} files left`)
  return faults
}

function memoryFaults ({ peakMb, idleMb }: Measured): string[] {
  if (peakMb === null) return []
  if (idleMb === null) return peakMb > MAX_MEGABYTES ? [`${Math.round(peakMb)} MB`] : []
  const added = peakMb - idleMb
  return added > MAX_MEGABYTES_ADDED ? [`${Math.round(added)} MB added to ${Math.round(idleMb)} MB`] : []
}

/**
 * Whether an answer is allowed: success, refusal, a feature that is off (501) or overload; a closed connection is a
 * refusal too.
 */
export function isAllowed (status: string, allowed?: readonly string[]): boolean {
  return allowed === undefined ? /^(?:2\d\d|4\d\d|501|503|closed)$/.test(status) : allowed.includes(status)
}

/**
 * Whether noise of the machine may have failed an input, so that it is repeated. A dead process or a second without an
 * answer is not noise.
 */
export function mayBeNoise (measured: Measured): boolean {
  return measured.alive && measured.worstMs < 1000 && measured.badAnswers.length === 0
}

/** One figure at a time, in minutes. */
export interface Sample {
  minute: number
  mib: number
}

/**
 * The slope of the samples of the last two thirds of the time, but not before `warm`: the median of the slopes between
 * any two of them (the Theil–Sen estimator), which is robust against single high values and a saw-tooth.
 * @param warm the minute in which every input has run once; until then code is compiled and caches are filled
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
