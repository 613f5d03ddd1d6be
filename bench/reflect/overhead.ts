import { JsonClient } from '../json-client.js'
import { summarize, type LatencySummary } from '../percentiles.js'
import { reflectBodies, startReflecting } from './bank.js'
import { ReflectClient, type Mode } from './client.js'
import type { ScriptedModel } from './scripted-model.js'

/** The time that the gateway adds to a model without delay, in milliseconds. */
export interface Overhead {
  mode: Mode
  calls: number
  /** Calls of the model for one reflect. */
  model_calls_per_reflect: number
  reflect_ms: LatencySummary
  /** The model's own time for the same calls. */
  model_ms: LatencySummary
  /** The difference of the two, call by call. */
  overhead_ms: LatencySummary
  /** The whole duration of sending the same prompt to the model without the gateway. */
  bare_ms: LatencySummary
}

const WARM_UP_CALLS = 300
const MODES: readonly Mode[] = ['plain', 'stream']

/** Reflects one after the other in a bank of 1,000 over one connection. */
export async function measureOverhead (model: ScriptedModel, calls: number): Promise<Overhead[]> {
  await model.setDelay(0)
  const gateway = await startReflecting(model.url, 1)
  const client = new ReflectClient(gateway.url, 1)
  const overheads: Overhead[] = []
  try {
    const bodies = reflectBodies()
    for (const mode of MODES) {
      await sequence(client, bodies.slice(0, WARM_UP_CALLS), mode)
      await model.report()
      const durations =
        await sequence(client, Array.from({ length: calls }, (_, index) => bodies[index % bodies.length]!), mode)
      const { calls: modelCalls, own_ms: own, last_body: prompt } = await model.report()
      if (own.length !== calls) throw new Error(`The model answered ${own.length} times to ${calls} reflects`)
      // The prompt of a stream is the same but its answer takes longer to write, so the plain request is the reference.
      const bare = await bareCalls(model.url, prompt, calls)
      overheads.push({
        mode,
        calls,
        model_calls_per_reflect: modelCalls / calls,
        reflect_ms: summarize(durations),
        model_ms: summarize(own),
        overhead_ms: summarize(durations.map((duration, index) => duration - own[index]!)),
        bare_ms: summarize(bare),
      })
    }
    return overheads
  } finally {
    client.close()
    await gateway.stop()
  }
}

async function sequence (client: ReflectClient, bodies: readonly string[], mode: Mode): Promise<number[]> {
  const durations: number[] = []
  for (const body of bodies) {
    const { outcome, durationMs } = await client.reflect(body, mode)
    if (outcome !== '200') throw new Error(`A reflect was answered ${outcome}`)
    durations.push(durationMs)
  }
  return durations
}

async function bareCalls (modelUrl: string, prompt: string, calls: number): Promise<number[]> {
  const client = new JsonClient(modelUrl)
  const durations: number[] = []
  try {
    for (let call = 0; call < WARM_UP_CALLS + calls; call++) {
      const { durationMs } = await client.post('/v1/chat/completions', prompt)
      if (call >= WARM_UP_CALLS) durations.push(durationMs)
    }
  } finally {
    client.close()
  }
  return durations
}
