import { connect, type Socket } from 'node:net'
import { setPriority } from 'node:os'
import { performance } from 'node:perf_hooks'
import { queuedMs } from './run-queue.js'
import { PROBE_EVERY_MS, type Wait } from './verdict.js'

/*
 * Sends GET /live to two servers, the one under attack and an idle one. The arguments are their ports and the process
 * id of the server under attack. It runs in a separate process, so that the attacking client does not delay it. Each
 * server gets probes on a kept connection, and the one under attack also on new connections. While a probe is
 * unanswered no other is sent, because the number of missed probes follows from the duration of the wait. The message
 * `begin` starts a measurement, and `end` ends it and is answered with the waits.
 */

const NEW_CONNECTION_EVERY_MS = 50
const AFTER_FAILURE_MS = 20
/** The time limit for outstanding answers at the end. */
const MAX_FINAL_WAIT_MS = 10_000
/** Shorter waits are not reported one by one. */
const MIN_REPORTED_MS = 15
const REQUEST = (port: number) => `GET /live HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`

// This process has priority, if the system allows it, so that it does not wait for the processor itself.
try { setPriority(-10) } catch { /* Not allowed. The waits for the idle server show the delays of the machine. */ }

const [attacked, idle, pid] = process.argv.slice(2).map(Number)

const PROBED = [{ port: attacked!, fresh: false }, { port: attacked!, fresh: true }, { port: idle!, fresh: false }]

const probes = PROBED.map(({ port, fresh }) => new (class {
  waits: Wait[] = []
  answers = 0
  failures = 0
  longest = 0
  /** Whether the last connection was closed without an answer: a process that has died is not waited for. */
  refused = false
  /** When the first probe was sent that is not answered yet. */
  owedSince: number | undefined
  #queuedBefore = 0
  #socket: Socket | undefined
  #text = ''

  start (): void {
    this.#send()
  }

  reset (): void {
    const now = performance.now()
    this.waits = []
    this.answers = this.failures = this.longest = 0
    if (this.owedSince !== undefined) this.#owe(now)
  }

  #owe (now: number): void {
    this.owedSince = now
    if (port === attacked) this.#queuedBefore = queuedMs(pid!)
  }

  #send (): void {
    if (this.owedSince === undefined) this.#owe(performance.now())
    if (this.#socket === undefined) {
      const socket = connect(port, '127.0.0.1')
      this.#socket = socket
      this.#text = ''
      socket.setNoDelay(true)
      socket.setEncoding('latin1')
      socket.on('data', (text: string) => { this.#take(socket, text) })
      socket.on('error', () => {})
      socket.on('close', () => {
        if (this.#socket !== socket) return
        this.#socket = undefined
        if (this.owedSince === undefined) return
        this.failures += 1
        this.refused = true
        setTimeout(() => { this.#send() }, AFTER_FAILURE_MS)
      })
    }
    this.#socket.write(REQUEST(port))
  }

  #take (socket: Socket, text: string): void {
    if (this.#socket !== socket || this.owedSince === undefined) return
    this.#text += text
    if (!this.#text.includes('"ok"}')) {
      // Refused, for whatever reason: the server is there and the probe has failed.
      if (this.#text.includes('"detail"')) socket.destroy()
      return
    }
    const now = performance.now()
    this.note(now)
    this.answers += 1
    this.refused = false
    const next = Math.max(0, this.owedSince + (fresh ? NEW_CONNECTION_EVERY_MS : PROBE_EVERY_MS) - now)
    this.owedSince = undefined
    this.#text = ''
    if (fresh) {
      this.#socket = undefined
      socket.destroy()
    }
    setTimeout(() => { this.#send() }, next)
  }

  note (now: number): void {
    if (this.owedSince === undefined) return
    this.longest = Math.max(this.longest, now - this.owedSince)
    if (now - this.owedSince < MIN_REPORTED_MS) return
    this.waits.push({
      from: this.owedSince, to: now, queuedMs: port === attacked ? queuedMs(pid!) - this.#queuedBefore : 0,
    })
  }

  result (): unknown {
    return { waits: this.waits, answers: this.answers, failures: this.failures, longest: this.longest }
  }
})())

process.on('message', (message) => {
  if (message === 'begin') {
    for (const probe of probes) probe.reset()
    process.send?.('begun')
  } else if (message === 'end') {
    const endedAt = performance.now()
    const deadline = endedAt + MAX_FINAL_WAIT_MS
    // What was sent before the end has to be answered, too.
    const look = () => {
      const now = performance.now()
      if (now < deadline &&
        probes.some(({ owedSince, refused }) => !refused && owedSince !== undefined && owedSince < endedAt)) {
        setTimeout(look, 2)
        return
      }
      for (const probe of probes) if (probe.owedSince !== undefined && probe.owedSince < endedAt) probe.note(now)
      process.send?.(probes.map((probe) => probe.result()))
    }
    look()
  }
})
process.on('disconnect', () => { process.exit(0) })
for (const probe of probes) probe.start()
