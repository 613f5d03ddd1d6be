/**
 * A web address. It ends at white space, a quotation mark, or Chinese and Japanese punctuation, which an address
 * contains only escaped.
 */
const ADDRESS = /(?:[a-z0-9+.-]{1,40}:\/\/|(?<![a-z0-9])www\.)[^\s<>"`“”「」『』【】《》（），。、；：！？]+/gi
/** Nothing but punctuation up to the next white space or tag. */
const ENDS = /[^\p{L}\p{N}\s<]{0,20}(?=[\s<]|$)/uy
/** Punctuation after an address that belongs to the sentence. */
const TRAILING = new Set('.,;:!?\'"*_~]}')
const DEFINITION = /^\[[^[\]]{1,999}\]:\s*<?(\S+)/
const ABSOLUTE = /^(?:[a-z][a-z0-9+.-]*:|\/\/|\\\\|www\.)/i
const ADDRESS_LIKE = /[:&\\]|\/\//
const CODE_LINK = /!?\[([^[\]]*)\]\(([^()]*)\)/g
const CODE_TAG = /<[^<>]*>/g

/** @returns every web address in the texts, verbatim */
export function addressesIn (texts: readonly string[]): Set<string> {
  const found = new Set<string>()
  for (const text of texts) {
    for (const [address] of text.matchAll(ADDRESS)) found.add(address.slice(0, addressEnd(address)))
  }
  return found
}

/**
 * Removes web addresses that are not allowed, with the brackets around them. A space separates an allowed address from
 * the text after it, because many clients read everything up to the next white space as one address.
 * @param isFollowed whether more text follows without white space
 */
export function withoutOtherAddresses (text: string, allowed: ReadonlySet<string>, isFollowed = false): string {
  let result = ''
  let from = 0
  for (const { 0: found, index } of text.matchAll(ADDRESS)) {
    const end = addressEnd(found)
    const next = index + found.length
    if (allowed.has(found.slice(0, end))) {
      ENDS.lastIndex = next
      if (ENDS.test(text) && !(isFollowed && ENDS.lastIndex === text.length)) continue
      result += `${text.slice(from, next)} `
    } else {
      // A remaining colon could come to follow a bracket and define a link.
      const behind = found.slice(end).replaceAll(':', '')
      const isBracketed = text[index - 1] === '(' && behind.startsWith(')')
      const before = text.slice(from, isBracketed ? index - 1 : index)
      const isLast = next === text.length ? !isFollowed : /\s/.test(text[next]!)
      result += (isLast ? before.trimEnd() : before) + (isBracketed ? behind.slice(1) : behind)
    }
    from = next
  }
  return from === 0 ? text : result + text.slice(from)
}

/**
 * The end of an address that was read up to the next white space: before trailing punctuation and unopened brackets.
 */
function addressEnd (found: string): number {
  let unopened = 0
  for (const character of found) {
    if (character === '(') unopened -= 1
    else if (character === ')') unopened += 1
  }
  let end = found.length
  for (; end > 0; end--) {
    const last = found[end - 1]!
    if (last === ')' && unopened > 0) unopened -= 1
    else if (!TRAILING.has(last)) break
  }
  return end
}

/** Whether a line defines the target of links elsewhere in the text, and the target is not allowed. */
export function definesLink (text: string, allowed: ReadonlySet<string>): boolean {
  const target = DEFINITION.exec(text)?.[1]
  return target !== undefined && ABSOLUTE.test(target) && !allowed.has(target.replace(/>$/, ''))
}

/**
 * Removes links, images and tags with addresses that are not allowed even from code, because Markdown parsers disagree
 * on where code ends.
 */
export function readCode (text: string, allowed: ReadonlySet<string>): string {
  const unlinked = text
    .replace(CODE_LINK, (whole, label: string, target: string) => (
      ADDRESS_LIKE.test(target) && (whole.startsWith('!') || !allowed.has(target)) ? `${label} ` : whole
    ))
    // Without an attribute it may be a type, such as `<std::string>`.
    .replace(CODE_TAG, (whole) => whole.includes('=') && ADDRESS_LIKE.test(whole) ? ' ' : whole)
  return withoutOtherAddresses(unlinked, allowed)
}
