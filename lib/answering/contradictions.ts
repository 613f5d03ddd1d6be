import { dayOf } from '../time/days.js'
import type { Asked } from './asked.js'
import type { Statement } from './statements.js'

const NEGATIONS = new Set(`no not never dont doesnt didnt isnt arent wasnt werent hasnt havent hadnt wont wouldnt cant
couldnt shouldnt mustnt`.split(/\s+/))
/** Words that tell of something that is other than before. */
const CHANGE = new RegExp([
  String.raw`\b(?:moved|moving|relocated|switched|switching|changed|quit|left|leaving|stopped|gave up|given up|started`,
  String.raw`|no longer|any ?more|instead|used to|became|become|turned into|new|now|nowadays|these days|from now on`,
  String.raw`|sold|bought|another|got rid`,
  String.raw`|replaced|reset|correction|mistaken|misread|was wrong|sorry|turns out|actually`,
  String.raw`|postponed|rescheduled|cancell?ed|migrated|joined|hired|took over|first day|promoted|divorced|married`,
  String.raw`|engaged|split up|broke up|retired|renamed|settled|adopted|outgrew|after all|down to|up to)\b`,
].join(''), 'i')
/** A statement of more words is a story, of which nothing can be replaced as a whole. */
export const MOST_WORDS = 16
/** The share of the shorter statement's words that two statements of one subject have in common. */
const ONE_SUBJECT = 0.6
const LEAST_SHARED = 2
/** The share of the question's words with which a statement is about it. */
const SAME_MATTER = 0.75

/**
 * Whether two statements contradict each other: the same speaker says them on different days (or the later has a word
 * of change) about the same subject, and each has a content word that the other lacks, or only one is negated. They
 * have the same subject when they are short and share most of their content words. The rule compares words and not
 * meaning.
 */
export function contradict (one: Statement, other: Statement): boolean {
  const [first, second] = [one.told, other.told]
  if (first.speakerKey !== second.speakerKey || first.instant === null || second.instant === null) return false
  const later = first.instant > second.instant ? one : other
  if (first.instant === second.instant) return false
  if (dayOf(first.instant) === dayOf(second.instant) && !CHANGE.test(later.text)) return false
  return haveOneSubject(one, other) && differ(one, other)
}

/**
 * Whether a later statement tells that what an earlier one says has changed: the same speaker, a word of change, and a
 * matter of the question or most of its words.
 */
export function isChangeOf (later: Statement, earlier: Statement, asked: Asked): boolean {
  if (!tellsChangeAfter(later, earlier)) return false
  const sharesMatter = [...asked.matters].some((matter) => later.matters.has(matter))
  if (sharesMatter && !hasOtherMatter(later, earlier, asked)) return true
  return asked.terms.filter((term) => later.terms.has(term)).length >= SAME_MATTER * asked.terms.length
}

/** Whether the later statement has a matter of its own: `We moved to a new office` tells nothing of where one lives. */
export function hasOtherMatter (later: Statement, earlier: Statement, asked: Asked): boolean {
  return [...later.matters].some((matter) => !earlier.matters.has(matter) && !asked.matters.has(matter))
}

function tellsChangeAfter (later: Statement, earlier: Statement): boolean {
  const [now, before] = [later.told, earlier.told]
  return now.speakerKey === before.speakerKey && now.instant !== null && before.instant !== null &&
    now.instant > before.instant && later.contentTerms.length <= MOST_WORDS && CHANGE.test(later.text)
}

function haveOneSubject (one: Statement, other: Statement): boolean {
  const [first, second] = [new Set(one.contentTerms), new Set(other.contentTerms)]
  if (Math.max(first.size, second.size) > MOST_WORDS) return false
  const shared = [...first].filter((term) => second.has(term)).length
  return shared >= LEAST_SHARED && shared >= ONE_SUBJECT * Math.min(first.size, second.size)
}

function differ (one: Statement, other: Statement): boolean {
  const hasOwn = (a: Statement, b: Statement) => a.contentTerms.some((term) => !b.terms.has(term))
  return isNegated(one) !== isNegated(other) || (hasOwn(one, other) && hasOwn(other, one))
}

function isNegated ({ terms }: Statement): boolean {
  return [...terms].some((term) => NEGATIONS.has(term))
}
