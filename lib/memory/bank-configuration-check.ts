import { isDeepStrictEqual } from 'node:util'
import { canMatchPrincipal } from '../identity/context.js'
import { BankConfigurationSchema, type BankConfiguration } from '../config/schema.js'
import { invalidField, invalidRequest, type FieldError } from '../errors/service-error.js'
import { PRINCIPAL_PATTERN_IN_WORDS } from '../validation/ids.js'
import { valueAt } from '../validation/json-object.js'
import { prepareInput, schemaCheck } from '../validation/schema-check.js'
import type { Dependencies } from './dependencies.js'

/** Maximum bytes of a configuration as JSON. */
const MAX_BYTES = 32_768

const checkSchema = schemaCheck(BankConfigurationSchema)

type Rules = Pick<Dependencies, 'access' | 'live'>

interface CheckOptions {
  /** What comes before the field names of errors; default nothing. */
  at?: string
  /**
   * The configuration being changed: the file may have made a value in it invalid, which a change of other values does
   * not touch.
   */
  changes?: BankConfiguration | undefined
}

/**
 * Checks a value against the schema and against what the operator allows in the bank.
 * @throws ServiceError invalid_request
 */
export function checkBankConfiguration (
  bankId: string, value: unknown, rules: Rules, { at = '', changes }: CheckOptions = {},
): BankConfiguration {
  prepareInput(value, BankConfigurationSchema)
  const configuration = checkSchema(value, at)
  if (Buffer.byteLength(JSON.stringify(configuration)) > MAX_BYTES) {
    throw invalidField(
      at.replace(/\.$/, ''), `The configuration must not be larger than ${MAX_BYTES} bytes as JSON`,
    )
  }
  const before = changes === undefined ? [] : faultsOf(bankId, changes, rules)
  const existedBefore = ({ field, message }: FieldError) => (
    before.some((one) => one.field === field && one.message === message)
  )
  const faults = faultsOf(bankId, configuration, rules).filter((fault) => {
    const { field } = fault
    return !(existedBefore(fault) && isDeepStrictEqual(valueAt(changes, field), valueAt(configuration, field)))
  })
  if (faults.length > 0) {
    throw invalidRequest(faults.map(({ field, message }) => ({ field: `${at}${field}`, message })))
  }
  return configuration
}

function faultsOf (bankId: string, { access, ...sections }: BankConfiguration, rules: Rules): FieldError[] {
  const { operator, bankGrants } = rules.live.current
  const faults = operator.faults(bankId, sections)
  if (access !== undefined && !bankGrants) {
    faults.push({ field: 'access', message: 'is not allowed on this server (access_control.bank_grants is false)' })
  }
  if (access !== undefined && !rules.access.isEnabled) {
    faults.push({ field: 'access', message: 'has no effect, since access control is off on this server' })
  }
  for (const [index, { principal }] of (access ?? []).entries()) {
    if (canMatchPrincipal(principal)) continue
    faults.push({ field: `access[${index}].principal`, message: `must be ${PRINCIPAL_PATTERN_IN_WORDS}` })
  }
  return faults
}
