/*
 * A bank as a plain list of memories with all their versions, each with the time of storing from which on it holds.
 * What a gateway answers is worked out from this list alone, so that it can be compared with what a store answers.
 */

export type State = 'current' | 'superseded' | 'retired'

/** What a version says. Times are milliseconds since the epoch. */
export interface Fields {
  text: string
  tags: string[]
  key: string | null
  validFrom: number | null
  validUntil: number | null
  expiresAt: number | null
}

export interface ModelVersion extends Fields {
  version: number
  state: State
  supersededBy: string | null
  supersedes: string[]
  /** From when on the bank held it, and until when. */
  from: number
  to: number | null
  redacted: boolean
}

interface ModelMemory {
  id: string
  retainedAt: number
  /** The first one first. */
  versions: ModelVersion[]
}

export interface Read {
  state: 'current' | 'history' | 'all'
  asOf?: number | undefined
  validAt?: number | undefined
}

/** A memory as a reader sees it. */
export interface Seen {
  id: string
  version: number
  state: State
  text: string
  tags: string[]
  key: string | null
  valid_from: number | null
  valid_until: number | null
  superseded_by: string | null
}

export interface NewFact extends Fields {
  supersedes: string[]
}

export type RetainOutcome =
  | { kind: 'stored', superseded: string[] }
  | { kind: 'repeated', id: string }
  | { kind: 'unknown' }

export type ChangeOutcome = 'changed' | 'unchanged' | 'absent' | 'not_current' | 'place_taken'

const last = ({ versions }: ModelMemory): ModelVersion => versions.at(-1)!

function isEqual (a: Fields, b: Fields): boolean {
  const told = ({ text, tags, key, validFrom, validUntil }: Fields) => (
    JSON.stringify([text, [...tags].sort(), key, validFrom, validUntil])
  )
  return told(a) === told(b)
}

export class BankModel {
  #memories: ModelMemory[] = []
  #forgotten: Array<{ retainedAt: number, removedAt: number }> = []

  #live (now: number): ModelMemory[] {
    this.#memories = this.#memories.filter((memory) => {
      const { expiresAt } = last(memory)
      return expiresAt === null || expiresAt > now
    })
    return this.#memories
  }

  #current (now: number): ModelMemory[] {
    return this.#live(now).filter((memory) => last(memory).state === 'current')
  }

  #find (id: string, now: number): ModelMemory | undefined {
    return this.#live(now).find((memory) => memory.id === id)
  }

  ids (now: number): string[] {
    return this.#live(now).map(({ id }) => id)
  }

  versions (id: string, now: number): ModelVersion[] {
    return [...this.#find(id, now)?.versions ?? []].reverse()
  }

  #change (memory: ModelMemory, now: number, changes: Partial<ModelVersion>): void {
    const before = last(memory)
    before.to = now
    memory.versions.push({ ...before, ...changes, version: before.version + 1, from: now, to: null })
  }

  retain (id: string, fact: NewFact, now: number): RetainOutcome {
    const current = this.#current(now)
    const repeated = current.find((memory) => isEqual(last(memory), fact))
    if (repeated !== undefined) return { kind: 'repeated', id: repeated.id }
    if (fact.supersedes.some((named) => this.#find(named, now) === undefined)) return { kind: 'unknown' }
    const targets = current.filter((memory) => (
      fact.supersedes.includes(memory.id) || (fact.key !== null && last(memory).key === fact.key)
    ))
    const until = fact.validFrom ?? now
    for (const target of targets) {
      const { validFrom, validUntil } = last(target)
      this.#change(target, now, {
        state: 'superseded', supersededBy: id, validUntil: validUntil ?? Math.max(until, validFrom ?? until),
      })
    }
    this.#memories.push({
      id,
      retainedAt: now,
      versions: [{
        ...fact,
        supersedes: [...new Set([...fact.supersedes, ...targets.map((target) => target.id)])].sort(),
        version: 1,
        state: 'current',
        supersededBy: null,
        from: now,
        to: null,
        redacted: false,
      }],
    })
    return { kind: 'stored', superseded: targets.map((target) => target.id).sort() }
  }

  patch (id: string, changes: Partial<Fields>, now: number): ChangeOutcome {
    const memory = this.#find(id, now)
    if (memory === undefined) return 'absent'
    const before = last(memory)
    if (before.state !== 'current') return 'not_current'
    const next = { ...before, ...changes }
    if (isEqual(before, next) && before.expiresAt === next.expiresAt) return 'unchanged'
    if (this.#isTaken(memory, next, now)) return 'place_taken'
    this.#change(memory, now, changes)
    return 'changed'
  }

  #isTaken (own: ModelMemory, next: Fields, now: number): boolean {
    return this.#current(now).some((memory) => memory !== own && (
      isEqual(last(memory), next) || (next.key !== null && last(memory).key === next.key)
    ))
  }

  retire (id: string, reason: 'superseded' | 'invalidated', now: number): ChangeOutcome {
    const memory = this.#find(id, now)
    if (memory === undefined) return 'absent'
    const { state, validFrom, validUntil } = last(memory)
    if (state !== 'current') return 'not_current'
    this.#change(memory, now, reason === 'superseded'
      ? { state: 'superseded', validUntil: validUntil ?? Math.max(now, validFrom ?? now) }
      : { state: 'retired' })
    return 'changed'
  }

  restore (id: string, now: number): ChangeOutcome {
    const memory = this.#find(id, now)
    if (memory === undefined) return 'absent'
    if (last(memory).state === 'current') return 'unchanged'
    const before = memory.versions.findLast(({ state }) => state === 'current')
    const validUntil = before === undefined || before.redacted ? last(memory).validUntil : before.validUntil
    if (this.#isTaken(memory, { ...last(memory), validUntil }, now)) return 'place_taken'
    this.#change(memory, now, { state: 'current', supersededBy: null, validUntil })
    return 'changed'
  }

  redact (id: string, version: number, now: number): 'redacted' | 'absent' | 'last' {
    const memory = this.#find(id, now)
    if (memory === undefined) return 'absent'
    if (last(memory).version === version) return 'last'
    const found = memory.versions.find((each) => each.version === version)
    if (found === undefined) return 'absent'
    found.redacted = true
    return 'redacted'
  }

  forget (isChosen: (id: string, fields: Fields) => boolean, now: number): string[] {
    const gone = this.#live(now).filter((memory) => isChosen(memory.id, last(memory)))
    this.#memories = this.#memories.filter((memory) => !gone.includes(memory))
    this.#forgotten.push(...gone.map(({ retainedAt }) => ({ retainedAt, removedAt: now })))
    return gone.map(({ id }) => id).sort()
  }

  rollback (
    to: number, now: number, { dryRun }: { dryRun: boolean },
  ): { restored: number, retired: number, unrecoverable: number } {
    const forgotten = this.#forgotten.filter(({ retainedAt, removedAt }) => retainedAt <= to && removedAt > to)
    const counts = { restored: 0, retired: 0, unrecoverable: forgotten.length }
    for (const memory of this.#live(now)) {
      const open = last(memory)
      if (open.from <= to) continue
      const then = memory.versions.find(({ from, to: until }) => from <= to && (until === null || until > to))
      if (then?.redacted === true && then.state === 'current') {
        counts.unrecoverable++
      } else if (then?.state === 'current') {
        const { text, tags, key, validFrom, validUntil, state, supersededBy, supersedes } = then
        const expiresAt = then.expiresAt !== null && then.expiresAt <= now ? open.expiresAt : then.expiresAt
        const next = { text, tags, key, validFrom, validUntil, state, supersededBy, supersedes, expiresAt }
        if (open.state === 'current' && isEqual(open, next) && open.expiresAt === expiresAt) continue
        counts.restored++
        if (!dryRun) this.#change(memory, now, next)
      } else if (open.state === 'current') {
        counts.retired++
        const state: Partial<ModelVersion> = then === undefined
          ? { state: 'retired' }
          : {
              state: then.state,
              supersededBy: then.supersededBy,
              validUntil: then.redacted ? open.validUntil : then.validUntil,
            }
        if (!dryRun) this.#change(memory, now, state)
      }
    }
    return counts
  }

  read ({ state, asOf, validAt }: Read, now: number): Seen[] {
    return this.#live(now).flatMap((memory): Seen[] => {
      const version = asOf === undefined
        ? last(memory)
        : memory.versions.find(({ from, to }) => from <= asOf && (to === null || to > asOf))
      if (version === undefined || version.redacted) return []
      const { validFrom, validUntil } = version
      if (state !== 'all' && (version.state === 'current') !== (state === 'current')) return []
      const isValid = validAt === undefined ||
        ((validFrom === null || validFrom <= validAt) && (validUntil === null || validUntil > validAt))
      return isValid ? [toSeen(memory.id, version)] : []
    }).sort((a, b) => a.id < b.id ? -1 : 1)
  }
}

function toSeen (id: string, version: ModelVersion): Seen {
  const { text, tags, key, validFrom, validUntil, supersededBy, state } = version
  return {
    id,
    version: version.version,
    state,
    text,
    tags: [...tags].sort(),
    key,
    valid_from: validFrom,
    valid_until: validUntil,
    superseded_by: supersededBy,
  }
}
