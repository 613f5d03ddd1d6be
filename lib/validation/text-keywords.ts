import { _, type Ajv, type CodeKeywordDefinition, type Name } from 'ajv'
import { codePointsUpTo } from './code-points.js'

/**
 * Replaces the keywords of Ajv whose time grows with a text that is far too long. Its minLength and maxLength count all
 * code points, which takes 25 ms for 10 MB. These first compare the number of UTF-16 units, of which a code point has
 * one or two. Its pattern is matched even when maxLength has failed, which takes 25 to 40 ms.
 */
export function addTextKeywords (ajv: Ajv): void {
  for (const keyword of ['minLength', 'maxLength', 'pattern']) ajv.removeKeyword(keyword)
  ajv.addKeyword(lengthKeyword('minLength', (text, count, limit) => (
    _`${text}.length < 2 * ${limit} && ${count}(${text}, ${limit}) < ${limit}`
  )))
  ajv.addKeyword(lengthKeyword('maxLength', (text, count, limit) => (
    _`${text}.length > ${limit} && ${count}(${text}, ${limit}) > ${limit}`
  )))
  ajv.addKeyword(PATTERN)
}

function lengthKeyword (
  keyword: string, fails: (text: Name, count: Name, limit: number) => ReturnType<typeof _>,
): CodeKeywordDefinition {
  return {
    keyword,
    type: 'string',
    schemaType: 'number',
    code (cxt) {
      const count = cxt.gen.scopeValue('func', { ref: codePointsUpTo })
      cxt.fail(fails(cxt.data, count, cxt.schema as number))
    },
  }
}

const PATTERN: CodeKeywordDefinition = {
  keyword: 'pattern',
  type: 'string',
  schemaType: 'string',
  code (cxt) {
    const { maxLength } = cxt.parentSchema as { maxLength?: number }
    const pattern = cxt.gen.scopeValue('pattern', { key: cxt.schema, ref: new RegExp(cxt.schema as string, 'u') })
    const isMatched = maxLength === undefined ? _`` : _`${cxt.data}.length <= 2 * ${maxLength} && `
    cxt.fail(_`${isMatched}!${pattern}.test(${cxt.data})`)
  },
}
