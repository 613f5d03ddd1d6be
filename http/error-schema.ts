import { Type, type TSchema } from 'typebox'
import { ERROR_CODES, type ErrorCode } from '../lib/errors/service-error.js'

const texts = (description: string) => Type.Optional(Type.Array(Type.String(), { description }))

/** The body of an error answer that carries one of these codes. */
export function errorSchema (codes: readonly ErrorCode[]): TSchema {
  return Type.Object({
    detail: Type.String({ description: 'For people.' }),
    code: Type.Enum([...codes], { description: 'For programs.' }),
    request_id: Type.String({ description: 'As in X-Request-Id and the log.' }),
    errors: Type.Optional(Type.Array(Type.Object({ field: Type.String(), message: Type.String() }), {
      description: 'The invalid fields and what is wrong with each.',
    })),
    ...(codes.includes('configuration_invalid') && { problems: texts('What is wrong with the configuration file.') }),
    ...(codes.includes('restart_required') && {
      changed: texts('Paths of the configuration file that were changed.'),
      restart_required: texts('The changed paths that need a restart.'),
    }),
    retry_after_seconds: Type.Optional(Type.Integer({ description: 'As in Retry-After.' })),
  }, {
    description: codes.map((code) => `\`${code}\`: ${ERROR_CODES[code]}`).join('\n'),
    examples: codes.map((code) => (
      { detail: ERROR_CODES[code], code, request_id: '5f0c6f0e-7b3c-4a10-8d2f-4b1f2c3d4e5f' }
    )),
  })
}
