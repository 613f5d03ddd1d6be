import { REMOVED_SCORERS } from '../config/scorer-table.js'
import { invalidRequest } from '../errors/service-error.js'
import { valueAt } from '../validation/json-object.js'

/** @throws ServiceError that names the replacement of a removed scorer */
export function refuseRemoved (value: unknown, at: string): void {
  const scorers = valueAt(value, 'retrieval.scorers')
  if (typeof scorers !== 'object' || scorers === null) return
  const removed = Object.entries(REMOVED_SCORERS).filter(([name]) => Object.hasOwn(scorers, name))
  if (removed.length === 0) return
  throw invalidRequest(removed.map(([name, instead]) => (
    { field: `${at}retrieval.scorers.${name}`, message: `was removed; ${instead}` }
  )))
}
