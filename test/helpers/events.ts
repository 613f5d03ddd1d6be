import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { Test } from 'tap'

/** An event of a stream; a comment, such as a sign of life, has the name `comment` and its text. */
export interface ReceivedEvent {
  event: string
  data: unknown
}

/**
 * Events of the HTML standard (section 9.2.6), as far as the gateway writes them: one line of each kind, ended by line
 * feeds.
 */
export function parseEvents (text: string): ReceivedEvent[] {
  return text.split('\n\n').filter((block) => block !== '').map((block) => {
    if (block.startsWith(':')) return { event: 'comment', data: block.slice(1).trim() }
    const [, event, data] = /^event: (\w+)\ndata: ([^\n\r]+)$/.exec(block) ?? []
    if (event === undefined || data === undefined) throw new Error(`no event: ${JSON.stringify(block)}`)
    return { event, data: JSON.parse(data) as unknown }
  })
}

/** Texts of the deltas together. */
export function deltasOf (events: readonly ReceivedEvent[]): string {
  return events.filter(({ event }) => event === 'delta').map(({ data }) => (data as { text: string }).text).join('')
}

/** An answer to a POST over a connection of its own, of which a test reads events one by one. */
export class EventReader {
  readonly #response: IncomingMessage
  readonly #chunks: AsyncIterator<Buffer>
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  #rest = ''

  private constructor (response: IncomingMessage) {
    this.#response = response
    this.#chunks = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  }

  /** Settles with the head of the answer. @param headers in addition to Accept and Content-Type */
  static async open (t: Test, url: string, body: unknown, headers: Record<string, string> = {}): Promise<EventReader> {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(
        url,
        {
          method: 'POST',
          agent: false,
          headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
        },
        resolve,
      )
      sent.on('error', reject)
      sent.end(JSON.stringify(body))
      t.teardown(() => { sent.destroy() })
    })
    response.on('error', () => {})
    return new EventReader(response)
  }

  get status (): number {
    return this.#response.statusCode!
  }

  get headers (): IncomingHttpHeaders {
    return this.#response.headers
  }

  /** @returns undefined at the end of the stream */
  async next (): Promise<ReceivedEvent | undefined> {
    for (;;) {
      const end = this.#rest.indexOf('\n\n')
      if (end !== -1) {
        const [event] = parseEvents(this.#rest.slice(0, end))
        this.#rest = this.#rest.slice(end + 2)
        return event
      }
      const { done, value } = await this.#chunks.next()
      if (done === true) {
        if (this.#rest !== '') throw new Error(`the stream ends within an event: ${JSON.stringify(this.#rest)}`)
        return undefined
      }
      this.#rest += this.#decoder.decode(value, { stream: true })
    }
  }

  /** The next event of this name; those before it are passed over. */
  async until (name: string): Promise<ReceivedEvent> {
    for (;;) {
      const event = await this.next()
      if (event === undefined) throw new Error(`the stream ended before ${name}`)
      if (event.event === name) return event
    }
  }

  /** All remaining events. */
  async all (): Promise<ReceivedEvent[]> {
    const events: ReceivedEvent[] = []
    for (let event = await this.next(); event !== undefined; event = await this.next()) events.push(event)
    return events
  }

  /** Closes the connection abruptly. */
  leave (): void {
    this.#response.destroy()
  }
}
