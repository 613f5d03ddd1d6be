import { Type, type TSchema } from 'typebox'
import { ERROR_CODES, type ErrorCode } from '../lib/base/service-error.js'
import { meaningOf } from './error-responses.js'

const texts = (description: string) => Type.Optional(Type.Array(Type.String(), { description }))
const CODES = Object.keys(ERROR_CODES) as ErrorCode[]

const ErrorCodeSchema = Type.Enum(CODES, {
  title: 'ErrorCode',
  description: `Error code, for programs.\n\n${CODES.map((code) => `- \`${code}\`: ${meaningOf(code)}`).join('\n')}`,
})

/** The body of every error answer. */
export const ErrorSchema = Type.Object({
  detail: Type.String({ description: 'Description of the error, for people.' }),
  code: ErrorCodeSchema,
  request_id: Type.String({ description: 'Id of the request, as in X-Request-Id and the log.' }),
  errors: Type.Optional(Type.Array(Type.Object({
    field: Type.String({ description: 'The field as the caller wrote it, for instance `items[3].tags`.' }),
    message: Type.String(),
  }, { title: 'FieldError', description: 'An invalid field and what is wrong with it.' }), {
    description: 'The invalid fields and what is wrong with each of them.',
  })),
  problems: texts('`configuration_invalid`: what is wrong with the configuration file.'),
  changed: texts('`restart_required`: paths of the configuration file that were changed.'),
  restart_required: texts('`restart_required`: the changed paths that need a restart.'),
  retry_after_seconds: Type.Optional(Type.Integer({
    description: 'Seconds after which a retry can succeed, as in Retry-After.',
  })),
}, { title: 'Error', description: 'The body of every answer with a status of 400 or higher.' })

/**
 * Stands for the body of an error answer that carries one of these codes. The OpenAPI document refers to ErrorSchema in
 * its place; generating a hundred copies would take most of the time of making the document.
 */
export function errorSchema (codes: readonly ErrorCode[]): TSchema {
  return {
    type: 'object',
    'x-response-description': codes.map((code) => `\`${code}\``).join(', '),
    'x-error-codes': codes,
  }
}
