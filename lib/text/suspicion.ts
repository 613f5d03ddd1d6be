import { decodedTexts } from './encoded-text.js'
import { hidesText } from './hidden-text.js'
import { ordersIn } from './orders.js'
import { plainWords, seenText } from './plain-words.js'

/**
 * Why a text is suspect:
 * - `override`: it orders to ignore or replace earlier instructions
 * - `role`: it speaks of system prompts or gives a model a role
 * - `delimiter`: it has tokens of chat templates, or marks that close evidence and open a turn
 * - `exfiltration`: it asks to give away secrets, prompts or memories, or has an address that could carry them out
 * - `concealment`: it orders to hide something from the user
 * - `citation`: it asks to be cited, or speaks for a numbered piece of evidence
 * - `hidden_text`: it has characters that hide text from a reader
 * - `encoded`: what it has in base64, hexadecimal or escapes does one of these
 */
export const SUSPICIONS = ['override', 'role', 'delimiter', 'exfiltration', 'concealment', 'citation', 'hidden_text', 'encoded'] as const
export type Suspicion = typeof SUSPICIONS[number]

const EVIDENCE = 'evidence|memory|memories|context|system|instructions?|prompt|user input|conversation'
const DELIMITERS = [
  /<\|[a-z_ ]{2,40}\|>/i,
  /\[\/?INST\]|<<\/?SYS>>|<(?:start|end)_of_turn>/,
  /^[ \t]{0,8}#{1,6}[ \t]{0,4}(?:system|assistant|human|developer|instruction|response)[ \t]{0,4}:/im,
  /<[ \t]{0,4}\/[ \t]{0,4}(?:evidence|memory|memories|context|system|instructions?|prompt|assistant|untrusted|tool_result|function_results)[ \t]{0,4}>/i,
  /<[ \t]{0,4}(?:evidence|system|system[-_]reminder|instructions?|assistant)[ \t]{0,4}>/i,
  new RegExp(`\\b(?:BEGIN|END)(?: OF)?(?: THE)? (?:${EVIDENCE.toUpperCase()})\\b`),
  new RegExp(`[-=<*_#~]{3,20}[ \\t]{0,4}(?:begin|end)(?: of)?(?: the)? (?:${EVIDENCE})\\b`, 'i'),
  // What the service's own prompts put around memories and around each of them (memory/reflect/prompt.ts).
  /<{3}[ \t]{0,4}(?:EVIDENCE|MEMORIES)\b|\b(?:EVIDENCE|MEMORIES)(?: [0-9a-z-]{1,64})?[ \t]{0,4}>{3}/i,
  /^[ \t]{0,8}\[\d{1,3}\][ \t]{0,4}\{[ \t]{0,4}"(?:bank|date|source|trust|text)"/m,
  /"trust"[ \t]{0,4}:[ \t]{0,4}"(?:suspect|untrusted|trusted)"/,
  /^[ \t>*_-]{0,8}(?:SYSTEM|DEVELOPER)[ \t*_]{0,4}:/m,
  /^[ \t>*_-]{0,8}(?:system|developer)[ \t*_]{0,4}:[ \t]{0,4}(?:you|the user|ignore|always|never|do not|don't|must|new|override)\b/im,
]
/** A turn that begins inside a text. A text that is a transcript from its first line on may have as many as it likes. */
const TURN_INSIDE = /\n[ \t>*_-]{0,8}(?:assistant|human)[ \t*_]{0,4}:/i
const TRANSCRIPT = /^[ \t>*_-]{0,8}(?:user|human|assistant|ai|bot|agent)[ \t*_]{0,4}:/i

const CITATIONS = [
  /\bcite\b[^\n[\]]{0,40}\[\d{1,3}\]/i,
  /\[\d{1,3}\][ \t]{0,3}(?:says?|said|states?|confirms?|shows?|proves?|tells?)\b/i,
  /\b(?:evidence|memory)[ \t]{0,3}\[\d{1,3}\]/i,
  /\bcite only (?:me\b|this (?:memory|text|entry|note|evidence)\b)/i,
  /\bcite (?:this|me|only this)(?: (?:memory|text|entry|note|source))? (?:as|in|for)\b/i,
]

const IMAGES = /!\[[^[\]\n]{0,200}\]\([^\s()]{1,2000}|<img[^<>]{1,2000}/gi
const LINKS = /\]\(((?:https?:)?\/\/[^\s()]{1,2000})/gi
/** A query that somebody is to fill in: it ends in `=`, or its value is a placeholder. */
const OPEN_QUERY = /\?[^\s?]{0,500}=(?:$|[{<[$]|%7b)/i
/** A query that has taken something with it. Badges and charts have others. */
const LADEN_QUERY = /[?&](?:q|d|data|text|msg|message|content|info|secret|memory|memories|history|chat|conversation|prompt|password|payload|leak|exfil)=/i

/**
 * Looks for instructions to a model and for smuggled text. It finds the usual wordings (English, German, French, Spanish) and disguises; it
 * cannot find every one, and it does not understand a text. Takes time by the length of the text.
 * @returns the kinds found, each once, in the order of SUSPICIONS
 */
export function suspicion (text: string): Suspicion[] {
  const seen = seenText(text)
  const found = suspicionOfSeen(seen)
  if (hidesText(text)) found.add('hidden_text')
  if (decodedTexts(seen).some((decoded) => suspicionOfSeen(seenText(decoded)).size > 0)) found.add('encoded')
  return SUSPICIONS.filter((kind) => found.has(kind))
}

function suspicionOfSeen (seen: string): Set<Suspicion> {
  const found = new Set<Suspicion>(ordersIn(plainWords(seen)))
  if (DELIMITERS.some((pattern) => pattern.test(seen)) || (TURN_INSIDE.test(seen) && !TRANSCRIPT.test(seen))) found.add('delimiter')
  if (CITATIONS.some((pattern) => pattern.test(seen))) found.add('citation')
  if (carriesOut(seen)) found.add('exfiltration')
  return found
}

/** Whether an image, which is fetched unasked, or a link has a query that data could go out with. */
function carriesOut (text: string): boolean {
  for (const [image] of text.matchAll(IMAGES)) {
    if (image.includes('//') && (OPEN_QUERY.test(image) || LADEN_QUERY.test(image))) return true
  }
  for (const [, address] of text.matchAll(LINKS)) {
    if (OPEN_QUERY.test(address!)) return true
  }
  return false
}
