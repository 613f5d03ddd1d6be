import { Ajv, type ErrorObject } from 'ajv'
import type { Static, TSchema } from 'typebox'

// Only the server validates formats; a bench relies on shapes only.
const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false })
const ERRORS_SHOWN = 10

/** Input that a bench cannot use. The message is for the person who supplied it. */
export class UnusableInput extends Error {
  override name = 'UnusableInput'
}

/**
 * Makes a check that data from outside has the shape of a schema.
 * @param what names the data in the message
 * @returns a function that returns the value with its type, or throws UnusableInput that lists the faults and their
 *   places
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
    return `  ${instancePath === '' ? 'at the top' : instancePath}: ` +
      `${message}${typeof extra === 'string' ? ` (${extra})` : ''}`
  })
  if (errors.length > ERRORS_SHOWN) lines.push(`  and ${errors.length - ERRORS_SHOWN} more`)
  return lines.join('\n')
}
