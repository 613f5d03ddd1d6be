import { dayOf } from '../../time/days.js'
import type { Statement } from './statements.js'

const NEGATIONS = new Set(`no not never dont doesnt didnt isnt arent wasnt werent hasnt havent hadnt wont wouldnt cant
couldnt shouldnt mustnt`.split(/\s+/))
/** Words that tell of something that is other than before. */
const CHANGE = new RegExp([
  String.raw`\b(?:moved|moving|relocated|switched|switching|changed|quit|left my|stopped|gave up|given up|started`,
  String.raw`|no longer|any ?more|instead|used to|became|become|turned|new|now|sold|bought|got (?:a|an|my|rid)`,
  String.raw`|replaced|correction|mistaken|was wrong|actually|postponed|rescheduled|cancell?ed|migrated|joined|hired`,
  String.raw`|promoted|divorced|married|engaged|split up|broke up|retired|renamed|settled|adopted|outgrew|after all)\b`,
].join(''), 'i')
const FIRST_PERSON = /\b(?:I|[Mm]y|[Ww]e|[Oo]ur)\b/
/** A statement of more words is a story, of which nothing can be replaced as a whole. */
export const MOST_WORDS = 16
/** The share of the shorter statement's words that two statements of one subject have in common. */
const ONE_SUBJECT = 0.6
const LEAST_SHARED = 2

/**
 * Whether two statements contradict each other: the same speaker says them on different days (or the later has a
 * word of change) about the same subject, and each has a content word that the other lacks, or only one is negated. They have the same subject when they
 * are short and share most of their content words. The rule compares words and not meaning.
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
 * matter that the question asks about.
 * @param asked the matters of the question
 */
export function isChangeOf (later: Statement, earlier: Statement, asked: ReadonlySet<number>): boolean {
  const [now, before] = [later.told, earlier.told]
  if (now.speakerKey !== before.speakerKey || now.instant === null || before.instant === null) return false
  if (now.instant <= before.instant || later.contentTerms.length > MOST_WORDS || !CHANGE.test(later.text)) return false
  if (now.speaker !== null && !FIRST_PERSON.test(later.text)) return false
  return [...asked].some((matter) => later.matters.has(matter))
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
