import type { ReflectEvent } from '../../packages/client/src/index.js'
import { recordsOf, textsOf, type Answer } from '../answers.js'
import { CommandError } from '../failures.js'
import { note, printable, write, writeJson, writeLine } from '../output.js'
import { filtersOf, scopeOf, withServer, type FilterOptions, type ServerOptions } from '../server-command.js'
import { withoutUndefined } from '../../lib/base/members.js'
import { hitLines } from './recall.js'

interface ReflectOptions extends ServerOptions, FilterOptions {
  maxTokens?: number
  instructions?: string
  sources: boolean
}

/** Writes the answer as it arrives; with --json at once, as the answer of `POST /v1/reflect`. */
export async function reflect (bank: string, question: string, options: ReflectOptions): Promise<void> {
  const { maxTokens, instructions, sources, json = false } = options
  await withServer(options, async (gateway, call) => {
    const events = gateway.reflectStream({
      query: question,
      ...scopeOf(bank),
      ...filtersOf(options),
      ...withoutUndefined({ max_tokens: maxTokens, instructions, include_sources: sources }),
    }, call)
    const answer = await collect(events, async (text) => { if (!json) await write(printable(text)) })
    if (json) return await writeJson(answer)
    await writeLine('')
    const evidence = recordsOf(answer['sources'])
    if (evidence.length > 0) await writeLine('')
    for (const [index, source] of evidence.entries()) await writeLine(`[${index + 1}] ${hitLines(source).join('\n')}`)
    if (answer['abstained'] === true) note('the memories do not answer the question')
    const degraded = textsOf(answer['degraded'])
    if (degraded.length > 0) note(`the answer is degraded; missing: ${degraded.join(', ')}`)
  })
}

/** @throws MemoryGatewayError when the stream ends before the answer does */
async function collect (events: AsyncIterable<ReflectEvent>, onText: (text: string) => Promise<void>): Promise<Answer> {
  let usage: unknown
  let isWritten = false
  for await (const { event, data } of events) {
    if (event === 'usage') usage = data
    else if (event === 'delta') {
      isWritten = true
      await onText(data.text)
    } else if (event === 'done') {
      // An answer without citations arrives as a whole at the end.
      if (!isWritten) await onText(data.answer)
      return { ...data, usage }
    }
  }
  throw new CommandError('the stream ended before the answer was complete')
}
