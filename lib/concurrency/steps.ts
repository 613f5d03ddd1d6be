/** Work that can be suspended: a generator that yields at least once a millisecond or so, and returns its result. */
export type Steps<T> = Generator<undefined, T, undefined>

/** Runs all steps at once: for work that is known to be short. */
export function runSync<T> (steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}
