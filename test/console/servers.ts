import type { Test } from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import { testApp } from '../helpers/app.js'
import { startLanguageServer, type LanguageServer } from '../helpers/language-server.js'
import { startConsoleServer, type StartedServer } from './browser.js'

/** What the browser reports of a server that is gone. */
export const GONE = [
  /ERR_CONNECTION_REFUSED/, /ERR_CONNECTION_RESET/, /ERR_EMPTY_RESPONSE/, /ERR_SOCKET_NOT_CONNECTED/,
]

/** A server that a test kills, to start it again with the same settings. */
export class KillableServer {
  settings: Record<string, string> = {}
  kill: () => Promise<void> = async () => { throw new Error('The server has not been started') }

  readonly start = async (t: Test): Promise<StartedServer> => {
    const server = await startConsoleServer(t, {})
    this.settings = server.settings
    this.kill = async () => {
      server.process.kill('SIGKILL')
      await server.ended
    }
    return server
  }
}

/** A gateway with a model whose answers the test sets. */
export class GatewayWithModel {
  #model: LanguageServer | undefined

  get model (): LanguageServer {
    if (this.#model === undefined) throw new Error('The gateway has not been started')
    return this.#model
  }

  readonly startWith = (file: Partial<FileConfig>) => async (t: Test): Promise<StartedServer> => {
    this.#model = await startLanguageServer(t)
    const { app } = await testApp(t, {
      file: {
        llm_provider: 'openai_compatible',
        llm_provider_config: { base_url: this.#model.url, model: 'remote', api_key: 'key', max_retries: 0 },
        reflect: { min_score: 0 },
        ...file,
      },
    })
    return { url: await app.listen({ host: '127.0.0.1', port: 0 }) }
  }
}
