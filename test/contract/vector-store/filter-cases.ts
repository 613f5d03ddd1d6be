import type { Filters, Metadata } from '../../../lib/stores/vector-store.js'
import { NOW, type MemoryFields } from '../../helpers/memories.js'
import type { FilterCase } from './filter-case.js'
import { SPEAKER_CASES } from './speaker-cases.js'

const TAGGED: Record<string, MemoryFields> = {
  none: {},
  red: { tags: ['red'] },
  blue: { tags: ['blue'] },
  both: { tags: ['blue', 'red'] },
  upper: { tags: ['Red'] },
  longer: { tags: ['red wine'] },
}

const VALUES: Record<string, MemoryFields> = {
  absent: {},
  null: { metadata: { value: null } },
  nullText: { metadata: { value: 'null' } },
  true: { metadata: { value: true } },
  trueText: { metadata: { value: 'true' } },
  false: { metadata: { value: false } },
  one: { metadata: { value: 1 } },
  oneText: { metadata: { value: '1' } },
  oneAndABit: { metadata: { value: 1.0000000000000002 } },
  zero: { metadata: { value: 0 } },
  empty: { metadata: { value: '' } },
  blank: { metadata: { value: ' ' } },
  other: { metadata: { other: 1 } },
}

const OCCURRED: Record<string, MemoryFields> = {
  never: { occurredAt: null },
  before: { occurredAt: NOW - 1 },
  at: { occurredAt: NOW },
  after: { occurredAt: NOW + 1 },
  ancient: { occurredAt: Date.parse('0001-01-01T00:00:00Z') },
}

const RETAINED: Record<string, MemoryFields> = {
  before: { retainedAt: NOW - 1 },
  at: { retainedAt: NOW },
  after: { retainedAt: NOW + 1, occurredAt: NOW - 1 },
}

const TRUST: Record<string, MemoryFields> = {
  suspect: { trust: 'suspect' },
  untrusted: { trust: 'untrusted' },
  trusted: { trust: 'trusted' },
}

/** Keys that name something of every object, or something to SQL, JSON or a pattern. */
const KEYS = [
  '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length', '', ' ', 'a.b', 'a b', '"', "'", '\\', '\\"',
  "';--", '$1', '$', '%', '_', '{a,b}', '[0]', '*', 'ключ', '🔑', '\n',
]

function having (key: string, value: Metadata[string]): Metadata {
  return Object.fromEntries([[key, value]])
}

/** In a document and in none. */
const MEMBERS: Record<string, MemoryFields> = {
  none: { documentId: 'diary' },
  red: { documentId: 'diary' },
  blue: { documentId: 'Diary' },
  number: {},
}

const DOCUMENTS: Record<string, MemoryFields> = {
  none: {},
  diary: { documentId: 'diary' },
  letter: { documentId: 'letter' },
}

const tags = (match: 'any' | 'all', ...values: string[]): Filters => ({ tags: { values, match } })
const value = (wanted: Metadata[string]): Filters => ({ metadata: { value: wanted } })

export const FILTER_CASES: FilterCase[] = [
  { about: 'no filter lets everything through', filters: {}, memories: TAGGED, expected: Object.keys(TAGGED) },
  { about: 'any of one tag', filters: tags('any', 'red'), memories: TAGGED, expected: ['red', 'both'] },
  {
    about: 'any of two tags', filters: tags('any', 'red', 'blue'), memories: TAGGED, expected: ['red', 'blue', 'both'],
  },
  { about: 'any of tags that no memory has', filters: tags('any', 'green'), memories: TAGGED, expected: [] },
  { about: 'all of two tags', filters: tags('all', 'red', 'blue'), memories: TAGGED, expected: ['both'] },
  {
    about: 'all of a tag named twice', filters: tags('all', 'red', 'red'), memories: TAGGED, expected: ['red', 'both'],
  },
  {
    about: 'all of tags of which one is unknown', filters: tags('all', 'red', 'green'), memories: TAGGED, expected: [],
  },
  { about: 'a tag is no pattern', filters: tags('any', 're%', 'r*', 'r_d', '.*'), memories: TAGGED, expected: [] },
  { about: 'no tag at all is in no memory', filters: tags('any'), memories: TAGGED, expected: [] },
  {
    about: 'an untagged memory has not even all of no tags', filters: tags('all'), memories: { none: {} }, expected: [],
  },
  { about: 'a document', filters: { documentIds: ['diary'] }, memories: MEMBERS, expected: ['none', 'red'] },
  {
    about: 'two documents',
    filters: { documentIds: ['Diary', 'diary', 'x'] },
    memories: MEMBERS,
    expected: ['none', 'red', 'blue'],
  },
  { about: 'outside of documents', filters: { documentIds: [null] }, memories: DOCUMENTS, expected: ['none'] },
  {
    about: 'a document, or outside of documents',
    filters: { documentIds: [null, 'diary'] },
    memories: DOCUMENTS,
    expected: ['none', 'diary'],
  },
  {
    about: 'a document that cannot exist, or outside',
    filters: { documentIds: ['\u0000', null] },
    memories: DOCUMENTS,
    expected: ['none'],
  },
  ...SPEAKER_CASES,
  { about: 'no document', filters: { documentIds: [] }, memories: MEMBERS, expected: [] },
  { about: 'a document that there is not', filters: { documentIds: ['\u0000'] }, memories: MEMBERS, expected: [] },
  { about: 'metadata null is there and null', filters: value(null), memories: VALUES, expected: ['null'] },
  { about: 'metadata true is neither a text nor 1', filters: value(true), memories: VALUES, expected: ['true'] },
  {
    about: 'metadata false is no 0, no null and not absent',
    filters: value(false),
    memories: VALUES,
    expected: ['false'],
  },
  { about: 'metadata 1 is a number', filters: value(1), memories: VALUES, expected: ['one'] },
  { about: 'metadata "1" is a text', filters: value('1'), memories: VALUES, expected: ['oneText'] },
  { about: 'metadata 0 is a number', filters: value(0), memories: VALUES, expected: ['zero'] },
  { about: 'metadata "" is an empty text', filters: value(''), memories: VALUES, expected: ['empty'] },
  { about: 'metadata "null" is a text', filters: value('null'), memories: VALUES, expected: ['nullText'] },
  {
    about: 'no metadata condition holds always',
    filters: { metadata: {} },
    memories: VALUES,
    expected: Object.keys(VALUES),
  },
  {
    about: 'every metadata condition has to hold',
    filters: { metadata: { a: 1, b: 'x' } },
    memories: {
      both: { metadata: { a: 1, b: 'x', c: 2 } },
      first: { metadata: { a: 1 } },
      second: { metadata: { b: 'x' } },
      wrong: { metadata: { a: 1, b: 'y' } },
    },
    expected: ['both'],
  },
  ...KEYS.map((key): FilterCase => ({
    about: `the metadata key ${JSON.stringify(key)} is a key like any other`,
    filters: { metadata: having(key, 'x') },
    memories: {
      has: { metadata: having(key, 'x') },
      differs: { metadata: having(key, 'y') },
      absent: { metadata: { x: key } },
      none: {},
    },
    expected: ['has'],
  })),
  ...['constructor', '__proto__', 'toString'].map((key): FilterCase => ({
    about: `a memory without the metadata key ${key} does not have it as null`,
    filters: { metadata: having(key, null) },
    memories: { none: {}, null: { metadata: having(key, null) } },
    expected: ['null'],
  })),
  {
    about: 'occurredAfter is inclusive', filters: { occurredAfter: NOW }, memories: OCCURRED, expected: ['at', 'after'],
  },
  {
    about: 'occurredBefore is exclusive',
    filters: { occurredBefore: NOW },
    memories: OCCURRED,
    expected: ['before', 'ancient'],
  },
  {
    about: 'both occurred bounds',
    filters: { occurredAfter: NOW - 1, occurredBefore: NOW + 1 },
    memories: OCCURRED,
    expected: ['before', 'at'],
  },
  {
    about: 'an occurred range that is empty',
    filters: { occurredAfter: NOW, occurredBefore: NOW },
    memories: OCCURRED,
    expected: [],
  },
  {
    about: 'a memory that occurred at no time is in no range, however wide',
    filters: { occurredAfter: Date.parse('0000-01-01T00:00:00Z'), occurredBefore: Date.parse('9999-12-31T23:59:59Z') },
    memories: OCCURRED,
    expected: ['before', 'at', 'after', 'ancient'],
  },
  {
    about: 'asOf is inclusive, and about the time of retaining',
    filters: { asOf: NOW },
    memories: RETAINED,
    expected: ['before', 'at'],
  },
  { about: 'asOf before everything', filters: { asOf: NOW - 2 }, memories: RETAINED, expected: [] },
  {
    about: 'minTrust is inclusive',
    filters: { minTrust: 'untrusted' },
    memories: TRUST,
    expected: ['untrusted', 'trusted'],
  },
  { about: 'minTrust of the highest level', filters: { minTrust: 'trusted' }, memories: TRUST, expected: ['trusted'] },
  {
    about: 'minTrust of the lowest level lets everything through',
    filters: { minTrust: 'suspect' },
    memories: TRUST,
    expected: Object.keys(TRUST),
  },
  { about: 'no minTrust lets everything through', filters: {}, memories: TRUST, expected: Object.keys(TRUST) },
  {
    about: 'all conditions hold together',
    filters: {
      tags: { values: ['red'], match: 'any' },
      metadata: { n: 1 },
      occurredAfter: NOW - 10,
      occurredBefore: NOW,
      asOf: NOW,
      minTrust: 'untrusted',
    },
    memories: {
      all: { tags: ['red'], metadata: { n: 1 }, occurredAt: NOW - 5, retainedAt: NOW, trust: 'untrusted' },
      suspect: { tags: ['red'], metadata: { n: 1 }, occurredAt: NOW - 5, retainedAt: NOW, trust: 'suspect' },
      untagged: { metadata: { n: 1 }, occurredAt: NOW - 5 },
      metadata: { tags: ['red'], metadata: { n: 2 }, occurredAt: NOW - 5 },
      early: { tags: ['red'], metadata: { n: 1 }, occurredAt: NOW - 11 },
      late: { tags: ['red'], metadata: { n: 1 }, occurredAt: NOW },
      new: { tags: ['red'], metadata: { n: 1 }, occurredAt: NOW - 5, retainedAt: NOW + 1 },
    },
    expected: ['all'],
  },
]
