import { withChoices, withTypedEnum } from './refinements.js'
import { mapChildren, type Schema } from './schema.js'
import { withoutUndefined } from '../../lib/validation/members.js'

const NAME = /^[A-Z][A-Za-z0-9]*$/
/** Keywords that may differ between the uses of a schema, because they do not restrict values. */
const ANNOTATIONS = ['description', 'examples'] as const

interface Named {
  schema: Schema
  /** The schema without its annotations, as text. */
  content: string
  /** The references to it. */
  uses: Schema[]
}

/**
 * Collects the named schemas of the document, those whose `title` is one capitalized word, and replaces each by a
 * reference. Validation and serialization are not affected, because they are compiled from the schemas of the routes.
 */
export class NamedSchemas {
  readonly #named = new Map<string, Named>()

  /**
   * @returns the schema for the document, in which named schemas are references
   * @throws Error when two different schemas have one name
   */
  refer (original: Schema): Schema {
    const schema = this.#refined(original)
    const { title = '' } = schema
    return NAME.test(title) ? this.#referTo(title, schema) : schema
  }

  /** Adds a schema under a name, whether or not it is referred to. */
  define (name: string, schema: Schema): void {
    this.#referTo(name, this.#refined(schema))
  }

  #refined (schema: Schema): Schema {
    return mapChildren(withChoices(withTypedEnum(schema)), (child) => this.refer(child))
  }

  #referTo (name: string, { title: _, ...schema }: Schema): Schema {
    const isNullable = Array.isArray(schema.type) && schema.type.includes('null')
    const { description, examples, ...rest } = isNullable ? withoutNull(schema) : schema
    const content = JSON.stringify(rest)
    const known: Named = this.#named.get(name) ?? { schema: rest, content, uses: [] }
    if (known.content !== content) throw new Error(`Two different schemas have the name ${name}`)
    this.#named.set(name, known)
    const reference = { $ref: `#/components/schemas/${name}` }
    const use: Schema = {
      ...(isNullable ? { anyOf: [reference, { type: 'null' }] } : reference),
      ...withoutUndefined({ description, examples }),
    }
    known.uses.push(use)
    return use
  }

  /**
   * Call it after the whole document has been processed.
   * @returns the named schemas in the order of their names. An annotation that is the same in all uses moves to the
   *   schema; otherwise each use keeps its own.
   */
  components (): Record<string, Schema> {
    const sorted = [...this.#named].sort(([a], [b]) => a < b ? -1 : 1)
    return Object.fromEntries(sorted.map(([name, { schema, uses }]) => {
      const common: Schema = {}
      for (const keyword of ANNOTATIONS) {
        const texts = new Set(uses.flatMap((use) => keyword in use ? [JSON.stringify(use[keyword])] : []))
        if (texts.size !== 1) continue
        common[keyword] = uses.find((use) => keyword in use)![keyword]
        for (const use of uses) Reflect.deleteProperty(use, keyword)
      }
      return [name, { ...common, ...schema }]
    }))
  }
}

function withoutNull (schema: Schema): Schema {
  const types = [schema.type ?? []].flat().filter((type) => type !== 'null')
  return { ...schema, type: types.length === 1 ? types[0]! : types }
}
