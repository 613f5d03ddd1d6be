import { Ajv, type ErrorObject } from 'ajv'
import type { Static, TSchema } from 'typebox'

// Formats are the server's business; a bench only relies on shapes.
const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false })
const ERRORS_SHOWN = 10

/** What a bench was given and cannot use, said for the person who gave it. */
export class UnusableInput extends Error {
  override name = 'UnusableInput'
}

/**
 * Makes a check that data from outside has the shape of a schema.
 * @param what names the data in the message
 * @returns a function that gives the value back, typed, or throws UnusableInput that lists what is wrong and where
 */
export function checker<S extends TSchema> (schema: S, what: string): (value: unknown) => Static<S> {
  const validate = ajv.compile<Static<S>>(schema)
  return (value) => {
    if (validate(value)) return value
    throw new UnusableInput(`${what} is not as expected:\n${describe(validate.errors ?? [])}`)
  }
}

function describe (errors: readonly ErrorObject[]): string {
  const lines = errors.slice(0, ERRORS_SHOWN).map(({ instancePath, message, params }) => {
    const extra: unknown = params['additionalProperty']
    return `  ${instancePath === '' ? 'at the top' : instancePath}: ${message}${typeof extra === 'string' ? ` (${extra})` : ''}`
  })
  if (errors.length > ERRORS_SHOWN) lines.push(`  and ${errors.length - ERRORS_SHOWN} more`)
  return lines.join('\n')
}
