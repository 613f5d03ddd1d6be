import { Type, type TSchema } from 'typebox'
import { ERROR_CODES, type ErrorCode } from '../lib/errors/service-error.js'

const texts = (description: string) => Type.Optional(Type.Array(Type.String(), { description }))
const CODES = Object.entries(ERROR_CODES)

const ErrorCodeSchema = Type.Enum(CODES.map(([code]) => code), {
  title: 'ErrorCode',
  description: `For programs.\n\n${CODES.map(([code, meaning]) => `- \`${code}\`: ${meaning}`).join('\n')}`,
})

/** The body of every error answer. */
export const ErrorSchema = Type.Object({
  detail: Type.String({ description: 'For people.' }),
  code: ErrorCodeSchema,
  request_id: Type.String({ description: 'As in X-Request-Id and the log.' }),
  errors: Type.Optional(Type.Array(Type.Object({
    field: Type.String({ description: 'As the caller wrote it, for instance `items[3].tags`.' }),
    message: Type.String(),
  }, { title: 'FieldError', description: 'An invalid field and what is wrong with it.' }), {
    description: 'The invalid fields and what is wrong with each.',
  })),
  problems: texts('`configuration_invalid`: what is wrong with the configuration file.'),
  changed: texts('`restart_required`: paths of the configuration file that were changed.'),
  restart_required: texts('`restart_required`: the changed paths that need a restart.'),
  retry_after_seconds: Type.Optional(Type.Integer({ description: 'As in Retry-After.' })),
}, { title: 'Error', description: 'The body of every answer with a status from 400 up.' })

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
