import { Type } from 'typebox'
import { setting, type Resolved } from '../../../base/defaults.js'
import { access, baseUrl, baseUrlWithDefault, concurrency, retries, waiting } from './endpoints.js'
import { integer } from './parts.js'

/** What both protocols share. */
const shared = {
  model: Type.String({ minLength: 1, description: 'Name of the model, as the endpoint knows it.' }),
  temperature: Type.Optional(Type.Number({
    minimum: 0, maximum: 2, description: 'Sampling temperature. Default: not sent.',
  })),
  timeout_ms: setting(integer(
    10, 600_000,
    'Maximum milliseconds of one attempt; for a stream, the time until its first text and between two texts. A ' +
      'reasoning model needs more.',
  ), 20_000),
  max_retries: setting(retries('Maximum number of retries after no answer, 408, 409, 429 and 5xx, within the time of ' +
    'the request.'), 2),
  max_concurrency: setting(concurrency('Maximum number of concurrent calls.'), 64),
  max_waiting: setting(
    waiting('Maximum number of requests that wait for a call; further ones are answered 429.'), 1024,
  ),
  probe: setting(Type.Boolean({
    description: 'Whether the gateway requests a tiny answer at start, and does not start with a wrong key, an ' +
      'unknown model or no connection.',
  }), false, 'Default false: such a fault appears at the first call.'),
}

const MAX_OUTPUT_TOKENS = 'Maximum tokens of an answer, whatever a request asks for.'

const maxOutputTokens = (description: string) => integer(1, 1_000_000, description)

/** `llm_provider_config` of `llm_provider: openai_compatible`. */
export const OpenAiLanguageSettings = Type.Object({
  base_url: baseUrl,
  ...access('Authorization: Bearer'),
  ...shared,
  top_p: Type.Optional(Type.Number({
    minimum: 0,
    maximum: 1,
    description: 'Nucleus sampling: the share of probability from which tokens are drawn. Default: not sent.',
  })),
  max_output_tokens: maxOutputTokens(`${MAX_OUTPUT_TOKENS} Default: only the limit of the request applies.`),
  max_tokens_parameter: setting(Type.Enum(['max_tokens', 'max_completion_tokens'], {
    description: 'Name of the parameter that limits the tokens of an answer. The reasoning models of OpenAI ' +
      '(o-series, gpt-5) accept only max_completion_tokens.',
  }), 'max_tokens'),
  structured_outputs: setting(Type.Boolean({
    description: 'Whether the endpoint accepts a JSON Schema as response_format; it is sent with strict false.',
  }), false, 'Default false: a structured answer is requested as json_object and by the prompt.'),
}, { additionalProperties: false })

/** The settings with defaults filled in, as `settingsCheck` returns them. */
export type OpenAiLanguageSettings = Resolved<typeof OpenAiLanguageSettings>

/** `llm_provider_config` of `llm_provider: anthropic`. */
export const AnthropicLanguageSettings = Type.Object({
  base_url: baseUrlWithDefault('https://api.anthropic.com/v1'),
  ...access('x-api-key'),
  ...shared,
  temperature: Type.Optional(Type.Number({
    minimum: 0,
    maximum: 1,
    description: 'Sampling temperature. It is not sent to models that do not accept it, and the log has a warning. ' +
      'Default: not sent.',
  })),
  top_p: Type.Optional(Type.Number({
    minimum: 0,
    maximum: 1,
    description: 'Nucleus sampling: the share of probability from which tokens are drawn. Not together with ' +
      'temperature. Default: not sent.',
  })),
  max_output_tokens: setting(maxOutputTokens(MAX_OUTPUT_TOKENS), 8192),
  structured_outputs: setting(Type.Boolean({
    description: 'Whether the endpoint enforces a JSON Schema: as output_config.format, or as a tool for models ' +
      'without that parameter.',
  }), false, 'Default false: a structured answer is requested by the prompt alone.'),
}, { additionalProperties: false })

export type AnthropicLanguageSettings = Resolved<typeof AnthropicLanguageSettings>
