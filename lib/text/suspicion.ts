import { atOnce, type Steps } from '../concurrency/steps.js'
import { decodedSteps } from './encoded-text.js'
import { hidingSteps } from './hidden-text.js'
import { injectionSteps } from './injections.js'
import { AT_ONCE } from './parts.js'
import { plainWords, plainWordsInParts, seenSteps } from './plain-words.js'

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

/** UTF-16 units that are looked through at a time, and how far behind them a match may end. */
const WINDOW = 8_192
const OVERLAP = 512
/** Images and links that are looked at in a step. */
const TOGETHER = 32

/** Expressions of one kind. */
interface Patterns {
  /**
   * What a match of each has in it. Most texts have nothing of it, and are looked through once instead of a dozen
   * times.
   */
  may: RegExp
  patterns: readonly RegExp[]
}

const EVIDENCE = 'evidence|memory|memories|context|system|instructions?|prompt|user input|conversation'
const DELIMITERS: Patterns = {
  may: /[<>[#:"]|[-=*_~]{3}|BEGIN|END/,
  patterns: [
    /<\|[a-z_ ]{2,40}\|>/gi,
    /\[\/?INST\]|<<\/?SYS>>|<(?:start|end)_of_turn>/g,
    /^[ \t]{0,8}#{1,6}[ \t]{0,4}(?:system|assistant|human|developer|instruction|response)[ \t]{0,4}:/gim,
    /<[ \t]{0,4}\/[ \t]{0,4}(?:evidence|memory|memories|context|system|instructions?|prompt|assistant|untrusted|tool_result|function_results)[ \t]{0,4}>/gi,
    /<[ \t]{0,4}(?:evidence|system|system[-_]reminder|instructions?|assistant)[ \t]{0,4}>/gi,
    new RegExp(`\\b(?:BEGIN|END)(?: OF)?(?: THE)? (?:${EVIDENCE.toUpperCase()})\\b`, 'g'),
    new RegExp(`[-=<*_#~]{3,20}[ \\t]{0,4}(?:begin|end)(?: of)?(?: the)? (?:${EVIDENCE})\\b`, 'gi'),
    // What the service's own prompts put around memories and around each of them (memory/reflect/prompt.ts).
    /<{3}[ \t]{0,4}(?:EVIDENCE|MEMORIES)\b|\b(?:EVIDENCE|MEMORIES)(?: [0-9a-z-]{1,64})?[ \t]{0,4}>{3}/gi,
    /^[ \t]{0,8}\[\d{1,3}\][ \t]{0,4}\{[ \t]{0,4}"(?:bank|date|source|trust|text)"/gm,
    /"trust"[ \t]{0,4}:[ \t]{0,4}"(?:suspect|untrusted|trusted)"/g,
    /^[ \t>*_-]{0,8}(?:SYSTEM|DEVELOPER)[ \t*_]{0,4}:/gm,
    /^[ \t>*_-]{0,8}(?:system|developer)[ \t*_]{0,4}:[ \t]{0,4}(?:you|the user|ignore|always|never|do not|don't|must|new|override)\b/gim,
  ],
}
/**
 * A turn that begins inside a text. A text that is a transcript from its first line on may have as many as it likes.
 */
const TURN_INSIDE: Patterns = { may: /:/, patterns: [/\n[ \t>*_-]{0,8}(?:assistant|human)[ \t*_]{0,4}:/gi] }
const TRANSCRIPT = /^[ \t>*_-]{0,8}(?:user|human|assistant|ai|bot|agent)[ \t*_]{0,4}:/i

const CITATIONS: Patterns = {
  may: /\[|cite/i,
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
/** A query that somebody is to fill in: it ends in `=`, or its value is a placeholder. */
const OPEN_QUERY = /\?[^\s?]{0,500}=(?:$|[{<[$]|%7b)/i
/** A query that has taken something with it. Badges and charts have others. */
const LADEN_QUERY = /[?&](?:q|d|data|text|msg|message|content|info|secret|memory|memories|history|chat|conversation|prompt|password|payload|leak|exfil)=/i

/**
 * Looks for instructions to a model and for smuggled text. It finds the usual wordings (English, German, French,
 * Spanish) and disguises; it cannot find every one, and it does not understand a text. Takes time by the length of the
 * text.
 * @returns the kinds found, each once, in the order of SUSPICIONS
 */
export function suspicion (text: string): Suspicion[] {
  return atOnce(suspicionSteps(text))
}

/** suspicion, for texts of any length. */
export function * suspicionSteps (text: string): Steps<Suspicion[]> {
  const seen = yield * seenSteps(text)
  const found = yield * stepsOfSeen(seen)
  if (yield * hidingSteps(text)) found.add('hidden_text')
  for (const decoded of yield * decodedSteps(seen)) {
    const told = yield * stepsOfSeen(yield * seenSteps(decoded))
    if (told.size === 0) continue
    found.add('encoded')
    break
  }
  return SUSPICIONS.filter((kind) => found.has(kind))
}

function * stepsOfSeen (seen: string): Steps<Set<Suspicion>> {
  // Without steps of its own, which cost a short text as much as its words do.
  const found = new Set<Suspicion>(seen.length <= AT_ONCE
    ? atOnce(injectionSteps([plainWords(seen)]))
    : yield * injectionSteps(plainWordsInParts(seen)))
  if ((yield * anyIn(DELIMITERS, seen)) || ((yield * anyIn(TURN_INSIDE, seen)) && !TRANSCRIPT.test(seen))) found.add('delimiter')
  if (yield * anyIn(CITATIONS, seen)) found.add('citation')
  // What every image and link has in it.
  if ((seen.includes('](') || seen.includes('<')) && (yield * outgoingSteps(seen))) found.add('exfiltration')
  return found
}

function someIn ({ may, patterns }: Patterns, text: string): boolean {
  if (!may.test(text)) return false
  for (const pattern of patterns) {
    pattern.lastIndex = 0
    if (pattern.test(text)) return true
  }
  return false
}

/** Whether any of the patterns, none of which matches more than OVERLAP units, is in the text. */
function * anyIn (kind: Patterns, text: string): Steps<boolean> {
  if (text.length <= WINDOW) return someIn(kind, text)
  for (let from = 0; ; from += WINDOW) {
    const isLast = text.length - from <= WINDOW + OVERLAP
    // One character before the window is what `^` and `\b` look at.
    const before = Math.min(from, 1)
    const window = text.slice(from - before, isLast ? text.length : from + WINDOW + OVERLAP)
    for (const pattern of kind.may.test(window) ? kind.patterns : []) {
      pattern.lastIndex = before
      // What ends where the window does could be seen otherwise with what follows; the next window has it whole.
      if (pattern.test(window) && (isLast || pattern.lastIndex < window.length)) return true
    }
    if (isLast) return false
    yield
  }
}

/** Whether an image, which is fetched unasked, or a link has a query that data could go out with. */
function * outgoingSteps (text: string): Steps<boolean> {
  let count = 0
  for (const [image] of text.matchAll(IMAGES)) {
    if (++count % TOGETHER === 0) yield
    if (image.includes('//') && (OPEN_QUERY.test(image) || LADEN_QUERY.test(image))) return true
  }
  for (const [, address] of text.matchAll(LINKS)) {
    if (++count % TOGETHER === 0) yield
    if (OPEN_QUERY.test(address!)) return true
  }
  return false
}
