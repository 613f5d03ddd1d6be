import { request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { Type, type Static } from 'typebox'
import { checker } from '../checker.js'
import { startChild, type ChildServer } from '../child-server.js'
import { JsonClient } from '../json-client.js'

const PROGRAM = fileURLToPath(new URL('model.ts', import.meta.url))

const ModelReport = Type.Object({
  calls: Type.Integer(),
  max_concurrent_calls: Type.Integer(),
  /**
   * Milliseconds from the last byte of each request to the last byte of its answer, in the order in which answers
   * ended.
   */
  own_ms: Type.Array(Type.Number()),
  /** The last request that was answered in one piece. */
  last_body: Type.String(),
})
/** What the model saw since the last report. */
export type ModelReport = Static<typeof ModelReport>

const checkReport = checker(ModelReport, 'the report of the scripted model')

/** The scripted model (model.ts) as a process of its own. */
export class ScriptedModel {
  readonly url: string
  readonly #child: ChildServer
  readonly #client: JsonClient

  private constructor (child: ChildServer) {
    this.#child = child
    this.url = child.url
    this.#client = new JsonClient(child.url)
  }

  static async start (): Promise<ScriptedModel> {
    return new ScriptedModel(await startChild(['--import', 'tsx', PROGRAM], 'PORT'))
  }

  /** @param milliseconds that an answer takes; 0: no delay */
  async setDelay (milliseconds: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      request(
        new URL(`/delay?ms=${milliseconds}`, this.url), { method: 'PUT', agent: false },
        (incoming) => { incoming.resume().on('end', resolve) },
      ).on('error', reject).end()
    })
  }

  async report (): Promise<ModelReport> {
    return checkReport((await this.#client.get('/report')).body)
  }

  async stop (): Promise<void> {
    this.#client.close()
    await this.#child.stop()
  }
}
