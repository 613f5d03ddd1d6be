import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { after } from 'node:test'
import type { AddressInfo } from 'node:net'

/** As far as it is needed: both of OpenAI's protocols have a list of these. */
interface Item {
  type?: string
  role?: string
  content?: unknown
  output?: unknown
}

/** In the place of a model. */
type Reply = { text: string } | { call: { name: string, input: object } }

/**
 * An endpoint with OpenAI's two protocols and a model of three rules: a question is looked up with `recall`, anything
 * else is kept with `retain`, and what a tool gives is the answer. It ends with the tests of the file.
 */
export async function startOpenAiEndpoint (): Promise<string> {
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      const { input, messages = [] } = body as { input?: Item[], messages?: Item[] }
      const answer = request.url?.endsWith('/responses') === true
        ? responseOf(replyTo(input ?? []))
        : completionOf(replyTo(messages))
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })
  })
  after(() => { server.close(); server.closeAllConnections() })
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

function replyTo (items: Item[]): Reply {
  const last = items.at(-1)
  if (last?.type === 'function_call_output') return { text: `The memory says: ${textIn(last.output)}` }
  if (last?.role === 'tool') return { text: `The memory says: ${textIn(last.content)}` }
  const said = textIn(last?.content)
  return said.endsWith('?')
    ? { call: { name: 'recall', input: { query: said } } }
    : { call: { name: 'retain', input: { content: said } } }
}

function textIn (content: unknown): string {
  if (!Array.isArray(content)) return String(content)
  return content.map((part: { text?: string }) => part.text ?? '').join('')
}

/** Frameworks take messages with the same id for one. */
let answers = 0

function responseOf (reply: Reply): object {
  const id = ++answers
  const item = 'text' in reply
    ? {
        type: 'message',
        id: `msg_${id}`,
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: reply.text, annotations: [] }],
      }
    : { type: 'function_call', id: `fc_${id}`, call_id: `call_${id}`, status: 'completed', ...callOf(reply.call) }
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: 0,
    status: 'completed',
    model: 'gpt-5-mini',
    output: [item],
    usage: {
      input_tokens: 1,
      output_tokens: 1,
      total_tokens: 2,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    },
  }
}

function callOf ({ name, input }: { name: string, input: object }): { name: string, arguments: string } {
  return { name, arguments: JSON.stringify(input) }
}

function completionOf (reply: Reply): object {
  const id = ++answers
  const message = 'text' in reply
    ? { role: 'assistant', content: reply.text }
    : {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: `call_${id}`, type: 'function', function: callOf(reply.call) }],
      }
  return {
    id: `chatcmpl_${id}`,
    object: 'chat.completion',
    created: 0,
    model: 'gpt-5-mini',
    choices: [{ index: 0, finish_reason: 'text' in reply ? 'stop' : 'tool_calls', message }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }
}
