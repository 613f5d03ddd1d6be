import { setTimeout as delay } from 'node:timers/promises'
import { seededRandom, type Random } from '../http/vocabulary.js'
import { Gateway, interruptedStart, type Target } from './gateway.js'
import { History, type Check } from './history.js'
import { Load } from './load.js'
import { readBack, replay } from './readback.js'
import { Contents, type Write } from './writes.js'

const MIN_LOAD_MS = 300
const MAX_LOAD_MS = 1500
/** Time limit for the first answer, from which the load is timed: a server that has just started is slow. */
const FIRST_ANSWER_MS = 30_000
/** In one of this many rounds the restart is killed too. */
const INTERRUPTED_EVERY = 2

export interface RoundResult extends Check {
  name: string
  /** Memories of all rounds so far, at the time of the read-back. */
  memories: number
  recalled: number
  notRecalled: number
  keys: number
  keysWrong: number
  /** From the start of the process until GET /health answered 200. */
  restartMs: number
  /** Whether a first restart was killed in the middle. */
  interrupted: boolean
  /** A remark of the fault. */
  note?: string
}

/** Rounds on one store. Each round keeps the data of the rounds before it. */
export class Rounds {
  readonly results: RoundResult[] = []
  readonly #target: Target
  readonly #clients: number
  readonly #random: Random
  readonly #contents = new Contents()
  readonly #history = new History()
  #gateway: Gateway
  /** Requests repeated after the last round, whose memories this round must find. */
  #repeats: Write[] = []

  private constructor (gateway: Gateway, target: Target, { clients, seed }: { clients: number, seed: number }) {
    this.#gateway = gateway
    this.#target = target
    this.#clients = clients
    this.#random = seededRandom(seed)
  }

  static async start (target: Target, options: { clients: number, seed: number }): Promise<Rounds> {
    return new Rounds(await Gateway.start(target), target, options)
  }

  get gateway (): Gateway {
    return this.#gateway
  }

  /** @param persistent whether clients continue after an error */
  load (persistent: boolean): Load {
    return new Load({
      client: this.#gateway.client,
      clients: this.#clients,
      round: this.results.length + 1,
      contents: this.#contents,
      persistent,
    })
  }

  /** Lets the load run for 300 to 1500 ms after the first acknowledged retain; the seed determines the time. */
  async keepLoaded (load: Load): Promise<void> {
    const started = performance.now()
    while (load.count('acknowledged') === 0 && performance.now() - started < FIRST_ANSWER_MS) await delay(10)
    await delay(MIN_LOAD_MS + this.#random() * (MAX_LOAD_MS - MIN_LOAD_MS))
  }

  /** Kills the gateway in the middle of the load. */
  async kill (): Promise<RoundResult> {
    const load = this.load(false)
    await this.keepLoaded(load)
    return await this.verify(`${this.results.length + 1}`, load)
  }

  /** Kills the gateway whatever the load, starts it again and verifies everything. */
  async verify (name: string, load: Load): Promise<RoundResult> {
    const ran = await this.#gateway.kill()
    await load.stop()
    const interrupted = this.results.length % INTERRUPTED_EVERY === 1
    if (interrupted) await interruptedStart(this.#target, this.#random() * this.#gateway.startMs)
    this.#gateway = await Gateway.start(this.#target)
    const { client, startMs } = this.#gateway
    const round = this.results.length + 1
    const { found, recalled, notRecalled, disagreements } = await readBack(client, this.#random)
    const check = this.#history.check([...load.writes, ...this.#repeats], found)
    const { keys, keysWrong, repeats, examples } = await replay(client, round, load.writes, found, this.#random)
    this.#repeats = repeats
    const result: RoundResult = {
      ...check,
      name,
      memories: found.length,
      recalled,
      notRecalled,
      keys,
      keysWrong,
      restartMs: startMs,
      interrupted,
      examples: [
        ...ran ? [] : ['the gateway had ended by itself'],
        ...check.examples, ...disagreements, ...examples,
        ...notRecalled > 0 ? [`recall did not find ${notRecalled} of ${recalled}`] : [],
      ],
    }
    this.results.push(result)
    return result
  }

  async stop (): Promise<void> {
    await this.#gateway.stop()
  }
}

export function isViolated ({ lost, duplicates, partial, unknown, wrongAnswers, examples }: RoundResult): boolean {
  return lost + duplicates + partial + unknown + wrongAnswers + examples.length > 0
}
