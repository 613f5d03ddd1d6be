import { decodedTexts, hidesText } from './disguises.js'
import { injectionsIn } from './injections.js'
import { plainWords, renderedText } from './plain-words.js'

/**
 * Why a text is suspect:
 * - `override`: it tells a model to ignore or replace earlier instructions
 * - `role`: it speaks of system prompts or gives a model a role
 * - `delimiter`: it contains tokens of chat templates, or delimiters that end the evidence or start a turn
 * - `exfiltration`: it asks to reveal secrets, prompts or memories, or has a URL that could transmit them
 * - `concealment`: it tells a model to hide something from the user
 * - `citation`: it asks to be cited, or makes claims about a numbered piece of evidence
 * - `hidden_text`: it contains characters that hide text from a human reader
 * - `encoded`: once decoded from base64, hexadecimal or escapes, it does one of these
 */
export const SUSPICIONS = [
  'override', 'role', 'delimiter', 'exfiltration', 'concealment', 'citation', 'hidden_text', 'encoded',
] as const
export type Suspicion = typeof SUSPICIONS[number]

/** UTF-16 units that are searched at a time, and how far beyond them a match may extend. */
const WINDOW_CHARACTERS = 8_192
const OVERLAP_CHARACTERS = 512

/** Expressions of one kind. */
interface Patterns {
  /**
   * A part that every match contains. Most texts do not contain it, so they are searched once instead of a dozen
   * times.
   */
  prefilter: RegExp
  patterns: readonly RegExp[]
}

const EVIDENCE = 'evidence|memory|memories|context|system|instructions?|prompt|user input|conversation'
const ENDING_TAGS = 'evidence|memory|memories|context|system|instructions?|prompt|assistant|untrusted|tool_result|' +
  'function_results'
const ORDERS = "you|the user|ignore|always|never|do not|don't|must|new|override"
const DELIMITERS: Patterns = {
  prefilter: /[<>[#:"]|[-=*_~]{3}|BEGIN|END/,
  patterns: [
    /<\|[a-z_ ]{2,40}\|>/gi,
    /\[\/?INST\]|<<\/?SYS>>|<(?:start|end)_of_turn>/g,
    /^[ \t]{0,8}#{1,6}[ \t]{0,4}(?:system|assistant|human|developer|instruction|response)[ \t]{0,4}:/gim,
    new RegExp(String.raw`<[ \t]{0,4}/[ \t]{0,4}(?:${ENDING_TAGS})[ \t]{0,4}>`, 'gi'),
    /<[ \t]{0,4}(?:evidence|system|system[-_]reminder|instructions?|assistant)[ \t]{0,4}>/gi,
    new RegExp(`\\b(?:BEGIN|END)(?: OF)?(?: THE)? (?:${EVIDENCE.toUpperCase()})\\b`, 'g'),
    new RegExp(`[-=<*_#~]{3,20}[ \\t]{0,4}(?:begin|end)(?: of)?(?: the)? (?:${EVIDENCE})\\b`, 'gi'),
    // The delimiters of the service's own prompts (memory/reflect/prompt.ts).
    /<{3}[ \t]{0,4}(?:EVIDENCE|MEMORIES)\b|\b(?:EVIDENCE|MEMORIES)(?: [0-9a-z-]{1,64})?[ \t]{0,4}>{3}/gi,
    /^[ \t]{0,8}\[\d{1,3}\][ \t]{0,4}\{[ \t]{0,4}"(?:bank|date|source|trust|text)"/gm,
    /"trust"[ \t]{0,4}:[ \t]{0,4}"(?:suspect|untrusted|trusted)"/g,
    /^[ \t>*_-]{0,8}(?:SYSTEM|DEVELOPER)[ \t*_]{0,4}:/gm,
    new RegExp(String.raw`^[ \t>*_-]{0,8}(?:system|developer)[ \t*_]{0,4}:[ \t]{0,4}(?:${ORDERS})\b`, 'gim'),
  ],
}
/**
 * The start of a conversation turn inside a text. It is ordinary in a text that is a transcript from its first line on.
 */
const TURN_INSIDE: Patterns = { prefilter: /:/, patterns: [/\n[ \t>*_-]{0,8}(?:assistant|human)[ \t*_]{0,4}:/gi] }
const TRANSCRIPT = /^[ \t>*_-]{0,8}(?:user|human|assistant|ai|bot|agent)[ \t*_]{0,4}:/i

const CITATIONS: Patterns = {
  prefilter: /\[|cite/i,
  patterns: [
    /\bcite\b[^\n[\]]{0,40}\[\d{1,3}\]/gi,
    /\[\d{1,3}\][ \t]{0,3}(?:says?|said|states?|confirms?|shows?|proves?|tells?)\b/gi,
    /\b(?:evidence|memory)[ \t]{0,3}\[\d{1,3}\]/gi,
    /\bcite only (?:me\b|this (?:memory|text|entry|note|evidence)\b)/gi,
    /\bcite (?:this|me|only this)(?: (?:memory|text|entry|note|source))? (?:as|in|for)\b/gi,
  ],
}

const IMAGES = /!\[[^[\]\n]{0,200}\]\([^\s()]{1,2000}|<img[^<>]{1,2000}/gi
const LINKS = /\]\(((?:https?:)?\/\/[^\s()]{1,2000})/gi
/** A URL query whose value is missing: it ends in `=`, or its value is a placeholder. */
const QUERY_TO_FILL = /\?[^\s?]{0,500}=(?:$|[{<[$]|%7b)/i
/** A URL query that transmits a text, by the names of its parameters. Those of badges and charts differ. */
const QUERY_WITH_DATA = new RegExp(`[?&](?:${[
  'q|d|data|text|msg|message|content|info|secret|memory|memories|history|chat|conversation|prompt|password|payload',
  'leak|exfil',
].join('|')})=`, 'i')

/**
 * Searches for instructions to a model and for hidden text. It finds the usual wordings (English, German, French,
 * Spanish) and disguises, not all of them, because it compares words and does not understand a text. The time is linear
 * in the length of the text.
 * @returns the kinds found, each once, in the order of SUSPICIONS
 */
export function suspicionsIn (text: string): Suspicion[] {
  const rendered = renderedText(text)
  const found = kindsIn(rendered)
  if (hidesText(text)) found.add('hidden_text')
  for (const decoded of decodedTexts(rendered)) {
    const kinds = kindsIn(renderedText(decoded))
    if (kinds.size === 0) continue
    found.add('encoded')
    break
  }
  return SUSPICIONS.filter((kind) => found.has(kind))
}

function kindsIn (rendered: string): Set<Suspicion> {
  const found = new Set<Suspicion>(injectionsIn(plainWords(rendered)))
  if (anyIn(DELIMITERS, rendered) || (anyIn(TURN_INSIDE, rendered) && !TRANSCRIPT.test(rendered))) {
    found.add('delimiter')
  }
  if (anyIn(CITATIONS, rendered)) found.add('citation')
  const mayHaveUrls = rendered.includes('](') || rendered.includes('<')
  if (mayHaveUrls && hasTransmittingUrl(rendered)) found.add('exfiltration')
  return found
}

/** Whether any of the patterns matches in the text; no match is longer than OVERLAP_CHARACTERS units. */
function anyIn (kind: Patterns, text: string): boolean {
  for (let from = 0; ; from += WINDOW_CHARACTERS) {
    const isLast = text.length - from <= WINDOW_CHARACTERS + OVERLAP_CHARACTERS
    // The window includes one character before it, which `^` and `\b` examine.
    const before = Math.min(from, 1)
    const window = text.slice(from - before, isLast ? text.length : from + WINDOW_CHARACTERS + OVERLAP_CHARACTERS)
    for (const pattern of kind.prefilter.test(window) ? kind.patterns : []) {
      pattern.lastIndex = before
      // A match at the end of the window could differ with the text after it; the next window contains it whole.
      if (pattern.test(window) && (isLast || pattern.lastIndex < window.length)) return true
    }
    if (isLast) return false
  }
}

/** Whether an image, which clients fetch unasked, or a link has a URL query that could transmit data. */
function hasTransmittingUrl (text: string): boolean {
  for (const [image] of text.matchAll(IMAGES)) {
    if (image.includes('//') && (QUERY_TO_FILL.test(image) || QUERY_WITH_DATA.test(image))) return true
  }
  for (const [, address] of text.matchAll(LINKS)) {
    if (QUERY_TO_FILL.test(address!)) return true
  }
  return false
}
