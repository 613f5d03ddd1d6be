import { Type, type Static } from 'typebox'
import {
  access, baseUrl, baseUrlWithDefault, concurrency, milliseconds, retries, waiting,
} from './endpoint-settings.js'

export const ANTHROPIC_URL = 'https://api.anthropic.com/v1'
export const ANTHROPIC_MAX_TOKENS = 8192

/** What both protocols share. */
const shared = {
  model: Type.String({ minLength: 1, description: 'Name of the model, as the endpoint knows it.' }),
  temperature: Type.Optional(Type.Number({
    minimum: 0, maximum: 2, description: 'How much chance there is in an answer. Default: not sent.',
  })),
  timeout_ms: milliseconds(
    10, 600_000,
    'Milliseconds that one attempt may take; of an answer that streams, until its first text and between two. A ' +
      'model that thinks before it answers needs more. Default 30000.',
  ),
  max_retries: retries('Further attempts after no answer, 408, 409, 429 and 5xx, within the time of the ' +
    'request. Default 2.'),
  max_concurrency: concurrency('Requests under way at a time. Default 64.'),
  max_waiting: waiting('Requests that may wait for others to end; beyond it they fail. Default 1024.'),
  probe: Type.Optional(Type.Boolean({
    description: 'Ask for a tiny answer at the start: a wrong key, an unknown model or no connection ends it. ' +
      'Default false: they show when the model is first asked.',
  })),
}

const maxOutputTokens = (fallback: string) => Type.Optional(Type.Integer({
  minimum: 1, maximum: 1_000_000, description: `Tokens of an answer at most, whatever a request asks for. ${fallback}`,
}))

/** `llm_provider_config` of `llm_provider: openai_compatible`. */
export const OpenAiLanguageSettings = Type.Object({
  base_url: baseUrl,
  ...access('Authorization: Bearer'),
  ...shared,
  top_p: Type.Optional(Type.Number({
    minimum: 0, maximum: 1, description: 'Share of the likeliest tokens that are drawn from. Default: not sent.',
  })),
  max_output_tokens: maxOutputTokens('Default: no more than the request says.'),
  max_tokens_parameter: Type.Optional(Type.Enum(['max_tokens', 'max_completion_tokens'], {
    description: 'Name under which the ceiling is sent; the newer models of OpenAI (o-series, gpt-5) only take ' +
      'max_completion_tokens. Default max_tokens.',
  })),
  structured_outputs: Type.Optional(Type.Boolean({
    description: 'Whether the endpoint takes a JSON Schema as response_format, which is sent with strict false. ' +
      'Default false: a structured answer is asked for as json_object and by the prompt.',
  })),
}, { additionalProperties: false })

export type OpenAiLanguageSettings = Static<typeof OpenAiLanguageSettings>

/** `llm_provider_config` of `llm_provider: anthropic`. */
export const AnthropicLanguageSettings = Type.Object({
  base_url: baseUrlWithDefault(ANTHROPIC_URL),
  ...access('x-api-key'),
  ...shared,
  temperature: Type.Optional(Type.Number({
    minimum: 0,
    maximum: 1,
    description: 'How much chance there is in an answer. Models that take none are not sent it, with a warning. ' +
      'Default: not sent.',
  })),
  top_p: Type.Optional(Type.Number({
    minimum: 0,
    maximum: 1,
    description: 'Share of the likeliest tokens that are drawn from; not beside temperature. Default: not sent.',
  })),
  max_output_tokens: maxOutputTokens(`Default ${ANTHROPIC_MAX_TOKENS}.`),
  structured_outputs: Type.Optional(Type.Boolean({
    description: 'Whether the endpoint holds an answer to a JSON Schema: as output_config.format, or as a tool for a ' +
      'model that knows none. Default false: a structured answer is asked for by the prompt alone.',
  })),
}, { additionalProperties: false })

export type AnthropicLanguageSettings = Static<typeof AnthropicLanguageSettings>
