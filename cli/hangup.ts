/**
 * Whether SIGHUP ends the process, as it does for a program whose terminal is closed. A service without a terminal
 * reloads its configuration on SIGHUP.
 */
export const endsWithTerminal = process.stdin.isTTY || process.stdout.isTTY

let act: (() => void) | undefined
let isPending = false

/** From now on SIGHUP does not end a service. A signal before `onHangup` takes effect with it. */
export function holdHangups (): void {
  if (endsWithTerminal) return
  process.on('SIGHUP', () => {
    isPending = act === undefined
    act?.()
  })
}

/** @param action what SIGHUP does from now on */
export function onHangup (action: () => void): void {
  act = action
  if (isPending) action()
}
