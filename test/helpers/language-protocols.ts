import type { ReceivedRequest } from './scripted-server.js'

export type Protocol = 'openai' | 'anthropic'

/** A request of either protocol, as a test sees it. */
export interface LanguageRequest extends ReceivedRequest {
  protocol: Protocol
  /** Texts of the system messages, joined by line breaks. */
  system: string
  /** Texts of all user messages, joined by line breaks. */
  user: string
  stream: boolean
  /** Whatever name it was sent by; undefined when none was sent. */
  maxTokens: number | undefined
}

export interface Answer {
  text: string
  /** The deltas of a stream. Default: the text word by word. */
  pieces?: readonly string[]
  /** Tokens that the answer names, whatever they are; null: it names none. Default 11 and 7. */
  usage?: { inputTokens: unknown, outputTokens: unknown } | null
  /** Why it ends. Default `stop`. */
  finish?: 'stop' | 'length' | 'filtered'
  /** The reasoning of the model before its answer. Default: none. */
  reasoning?: string
}

const FINISH = {
  openai: { stop: 'stop', length: 'length', filtered: 'content_filter' },
  anthropic: { stop: 'end_turn', length: 'max_tokens', filtered: 'refusal' },
}

/** The tokens that an answer names unless a test says otherwise. */
export const USUAL_USAGE = { inputTokens: 11, outputTokens: 7 }

export function plainAnswer ({ protocol, body }: LanguageRequest, {
  text, usage = USUAL_USAGE, finish = 'stop', reasoning,
}: Answer): object {
  if (protocol === 'openai') {
    return {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: body['model'],
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant', content: text, ...(reasoning !== undefined && { reasoning_content: reasoning }),
          },
          finish_reason: FINISH.openai[finish],
        },
      ],
      ...openaiUsage(usage),
    }
  }
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: body['model'],
    content: [
      ...(reasoning === undefined ? [] : [{ type: 'thinking', thinking: reasoning, signature: 'none' }]),
      { type: 'text', text },
    ],
    stop_reason: FINISH.anthropic[finish],
    stop_sequence: null,
    ...(usage !== null && { usage: { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens } }),
  }
}

/** Events of a stream, each as it is sent. */
export interface StreamedAnswer {
  opening: string[]
  deltas: string[]
  ending: string[]
}

export function streamedAnswer (request: LanguageRequest, answer: Answer): StreamedAnswer {
  return request.protocol === 'openai' ? openaiStream(request, answer) : anthropicStream(request, answer)
}

/** An error in the middle of a stream. */
export function streamedError ({ protocol }: LanguageRequest, type: string): string {
  const error = { type, message: 'It failed' }
  return protocol === 'openai' ? data({ error }) : event({ type: 'error', error })
}

function openaiStream ({ body }: LanguageRequest, {
  text, pieces = words(text), usage = USUAL_USAGE, finish = 'stop', reasoning,
}: Answer): StreamedAnswer {
  const chunk = (choices: object[], more: object = {}) => data({
    id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: body['model'], choices, ...more,
  })
  const delta = (value: object) => chunk([{ index: 0, delta: value, finish_reason: null }])
  const wantsUsage = (body['stream_options'] as { include_usage?: unknown } | undefined)?.include_usage === true
  return {
    opening: [
      delta({ role: 'assistant', content: '' }),
      ...(reasoning === undefined ? [] : [delta({ reasoning_content: reasoning })]),
    ],
    deltas: pieces.map((content) => delta({ content })),
    ending: [
      chunk([{ index: 0, delta: {}, finish_reason: FINISH.openai[finish] }]),
      ...(wantsUsage && usage !== null ? [chunk([], openaiUsage(usage))] : []),
      'data: [DONE]\n\n',
    ],
  }
}

function anthropicStream ({ body }: LanguageRequest, {
  text, pieces = words(text), usage = USUAL_USAGE, finish = 'stop', reasoning,
}: Answer): StreamedAnswer {
  const index = reasoning === undefined ? 0 : 1
  return {
    opening: [
      event({
        type: 'message_start',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: body['model'],
          content: [],
          stop_reason: null,
          stop_sequence: null,
          ...(usage !== null && { usage: { input_tokens: usage.inputTokens, output_tokens: 1 } }),
        },
      }),
      ...(reasoning === undefined
        ? []
        : [
            event({ type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } }),
            event({ type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: reasoning } }),
            event({ type: 'content_block_stop', index: 0 }),
          ]),
      event({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } }),
      event({ type: 'ping' }),
    ],
    deltas: pieces.map((piece) => event({
      type: 'content_block_delta', index, delta: { type: 'text_delta', text: piece },
    })),
    ending: [
      event({ type: 'content_block_stop', index }),
      event({
        type: 'message_delta',
        delta: { stop_reason: FINISH.anthropic[finish], stop_sequence: null },
        ...(usage !== null && { usage: { output_tokens: usage.outputTokens } }),
      }),
      event({ type: 'message_stop' }),
    ],
  }
}

function openaiUsage (usage: Answer['usage']): object {
  if (usage === null || usage === undefined) return {}
  const { inputTokens, outputTokens } = usage
  return { usage: { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: 18 } }
}

function words (text: string): string[] {
  return text.split(/(?<= )/)
}

function data (value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

function event (value: { type: string, [member: string]: unknown }): string {
  return `event: ${value.type}\n${data(value)}`
}
