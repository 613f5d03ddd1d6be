import { recordOf, recordsOf, textOf, textsOf, type Answer } from '../answers.js'
import { CommandError } from '../failures.js'
import { note, printable, write, writeJson, writeLine } from '../output.js'
import type { ServerEvent } from '../server-events.js'
import { filtersOf, present, scopeOf, withServer, type FilterOptions, type ServerOptions } from '../server-command.js'
import { hitLines } from './recall.js'

export interface ReflectOptions extends ServerOptions, FilterOptions {
  maxTokens?: number
  instructions?: string
  sources: boolean
}

/** The answer as it comes; with --json in one piece, as `POST /v1/reflect` answers. */
export async function reflect (bank: string, question: string, options: ReflectOptions): Promise<void> {
  const { maxTokens, instructions, sources, json = false } = options
  await withServer(options, async (server) => {
    const events = server.reflectStream({
      query: question,
      ...scopeOf(bank),
      ...filtersOf(options),
      ...present({ max_tokens: maxTokens, instructions, include_sources: sources }),
    })
    const answer = await collect(events, async (text) => { if (!json) await write(printable(text)) })
    if (json) return await writeJson(answer)
    await writeLine('')
    const evidence = recordsOf(answer['sources'])
    if (evidence.length > 0) await writeLine('')
    for (const [index, source] of evidence.entries()) await writeLine(`[${index + 1}] ${hitLines(source).join('\n')}`)
    if (answer['abstained'] === true) note('the memories do not answer the question')
    const degraded = textsOf(answer['degraded'])
    if (degraded.length > 0) note(`the answer went without: ${degraded.join(', ')}`)
  })
}

/** @throws CommandError when the stream ends before the answer does */
async function collect (events: AsyncIterable<ServerEvent>, onText: (text: string) => Promise<void>): Promise<Answer> {
  let sources: unknown = []
  let usage: unknown
  let written = ''
  for await (const { event, data } of events) {
    const value = recordOf(data)
    if (event === 'evidence') sources = value['sources']
    else if (event === 'usage') usage = data
    else if (event === 'delta') {
      const text = textOf(value['text']) ?? ''
      written += text
      await onText(text)
    } else if (event === 'done') {
      const whole = textOf(value['answer']) ?? written
      // An answer that cites nothing comes whole at the end.
      if (written === '') await onText(whole)
      return { ...value, sources: value['abstained'] === true ? [] : sources, usage }
    }
  }
  throw new CommandError('the answer broke off: the stream ended before it was done')
}
