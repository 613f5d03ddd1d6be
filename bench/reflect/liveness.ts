import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Type } from 'typebox'
import { checker } from '../checker.js'
import { summarize } from '../percentiles.js'

const PROGRAM = fileURLToPath(new URL('prober.ts', import.meta.url))

/** Durations of GET /live of one server, in milliseconds. */
export interface Liveness {
  samples: number
  p50: number
  p99: number
  max: number
}

const checkSamples = checker(
  Type.Array(Type.Object({ durations: Type.Array(Type.Number()), failures: Type.Integer() })),
  'what the prober measured',
)

/**
 * Starts the prober (prober.ts) and waits until it is connected.
 * @returns a function that ends it and returns a summary for each URL; it throws when any answer was not 200
 */
export async function probeLive (urls: readonly string[]): Promise<() => Promise<Liveness[]>> {
  const prober = fork(PROGRAM, urls, { execArgv: ['--import', 'tsx'] })
  const kill = () => { prober.kill('SIGKILL') }
  process.once('exit', kill)
  const ended = once(prober, 'close')
  const nextMessage = async (): Promise<unknown> => {
    const [message] = await Promise.race([
      once(prober, 'message'), ended.then(() => { throw new Error('The prober ended without a message') }),
    ]) as unknown[]
    return message
  }
  await nextMessage()
  return async () => {
    const message = nextMessage()
    prober.send('end')
    const samples = await message
    await ended
    process.off('exit', kill)
    return checkSamples(samples).map(({ durations, failures }, index) => {
      if (failures > 0) {
        throw new Error(`${failures} of ${failures + durations.length} answers of ${urls[index]}/live were not 200`)
      }
      const { p50, p99 } = summarize(durations)
      return { samples: durations.length, p50, p99, max: Math.max(...durations) }
    })
  }
}
