/** A clock that does not move until `advance` is called. */
export interface TestClock {
  (): number
  advance (milliseconds: number): void
  set (instant: string): void
}

export function testClock (start = '2026-01-15T10:00:00.000Z'): TestClock {
  let now = Date.parse(start)
  const clock = () => now
  return Object.assign(clock, {
    advance: (milliseconds: number) => { now += milliseconds },
    set: (instant: string) => { now = Date.parse(instant) },
  })
}

/** Ids that count up, in the form of a UUIDv7. */
export function countingIds (): () => string {
  let next = 0
  return () => `01936f0e-7b3c-7a10-8d2f-${(++next).toString(16).padStart(12, '0')}`
}
