/** Characters that end an address: white space, what quotes it, and the signs of Chinese and Japanese, which no address holds unescaped. */
const ADDRESS = /(?:[a-z0-9+.-]{1,40}:\/\/|(?<![a-z0-9])www\.)[^\s<>"`“”「」『』【】《》（），。、；：！？]+/gi
/** Only punctuation up to the next white space or tag. */
const ENDS = /[^\p{L}\p{N}\s<]{0,20}(?=[\s<]|$)/uy
/** What ends a sentence or a quotation rather than the address before it. */
const BEHIND = new Set('.,;:!?\'"*_~]}')

/** @returns every web address that stands in the texts, as it stands there */
export function addressesIn (texts: readonly string[]): Set<string> {
  const found = new Set<string>()
  for (const text of texts) {
    for (const [address] of text.matchAll(ADDRESS)) found.add(address.slice(0, addressEnd(address)))
  }
  return found
}

/**
 * An address that is allowed stands apart from what follows, for many a reader takes all up to the next white space for one address.
 * @param isFollowed whether something follows the text without white space
 * @returns the text without the addresses that are not allowed; a pair of brackets that held nothing else goes with its address
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
      // A colon that stayed could end up behind a bracket and define a link.
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

/** Where an address ends that was read up to the next white space: before punctuation and before a bracket that it did not open. */
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
    else if (!BEHIND.has(last)) break
  }
  return end
}
