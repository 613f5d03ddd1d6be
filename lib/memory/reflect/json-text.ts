/** Maximum number of brace-delimited texts that are tried: prose before the object may contain braces too. */
const MAX_OBJECTS = 8
const SPACE = new Set(' \t\n\r')

interface ObjectText {
  json: string
  /** The nesting depth of lists and objects; 1 for a flat object. */
  depth: number
}

/**
 * The texts in balanced braces, in order; braces in JSON strings do not count. They do not overlap, so the time is
 * linear.
 */
export function * jsonObjectsIn (text: string): Generator<ObjectText> {
  let from = 0
  for (let count = 0; count < MAX_OBJECTS; count++) {
    const start = text.indexOf('{', from)
    if (start < 0) return
    const found = balanced(text, start)
    if (found === undefined) return
    yield found
    from = start + found.json.length
  }
}

function balanced (text: string, start: number): ObjectText | undefined {
  let depth = 0
  let deepest = 0
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (character === '"') {
      at = stringEnd(text, at) - 1
    } else if (character === '{' || character === '[') {
      depth += 1
      deepest = Math.max(deepest, depth)
    } else if (character === '}' || character === ']') {
      depth -= 1
      if (depth === 0) return { json: text.slice(start, at + 1), depth: deepest }
    }
  }
  return undefined
}

/** Whether an object in a valid JSON text has a name twice, however it is escaped. */
export function hasDuplicateName (json: string): boolean {
  const open: Array<Set<string>> = []
  for (let at = 0; at < json.length; at++) {
    const character = json[at]
    if (character === '{' || character === '[') open.push(new Set())
    else if (character === '}' || character === ']') open.pop()
    else if (character === '"') {
      const end = stringEnd(json, at)
      if (isName(json, end)) {
        const name = String(JSON.parse(json.slice(at, end)))
        const names = open.at(-1)!
        if (names.has(name)) return true
        names.add(name)
      }
      at = end - 1
    }
  }
  return false
}

function isName (json: string, end: number): boolean {
  let at = end
  while (SPACE.has(json[at] ?? '')) at += 1
  return json[at] === ':'
}

/**
 * @param start the index of the opening quotation mark
 * @returns the index after the closing one
 */
function stringEnd (text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return Math.min(at + 1, text.length)
}
