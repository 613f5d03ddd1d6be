import { textThatIs } from '../errors/wording.js'
import { rangeInWords } from '../validation/problem-messages.js'
import { branchTypes, type SchemaNode } from '../validation/schema-node.js'
import { quoteAll } from './problems.js'

/** The allowed values in words: `an integer from 1 to 10`, `"owner_only", "open", "deny"`. */
export function describe (schema: SchemaNode): string {
  if (schema.enum !== undefined) return quoteAll(schema.enum.map(String))
  if (schema.const !== undefined) return quoteAll([String(schema.const)])
  if (schema.anyOf !== undefined) return `a map with the key type, one of ${quoteAll(branchTypes(schema))}`
  switch (schema.type ?? '') {
    case 'integer': return `an integer${rangeInWords(schema)}`
    case 'number': return `a number${rangeInWords(schema)}`
    case 'boolean': return 'true, false'
    case 'string':
      return typeof schema['x-allowed'] === 'string' ? textThatIs(schema['x-allowed']) : 'a text that is not empty'
    case 'array': return schema.minItems === undefined ? 'a list' : 'a list that is not empty'
    case 'object': return 'a map'
    default: return 'anything'
  }
}
