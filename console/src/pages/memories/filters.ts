import type { ForgetRequest, ListMemoriesRequest, Memory, RecallRequest } from 'memory-gateway-client'
import { changeParams, type Params } from '../../state/router.js'
import type { Metadata } from '../../text/metadata.js'
import { stateChoiceOf, type StateChoice } from '../../text/state-choice.js'

export const TRUSTS = ['suspect', 'untrusted', 'trusted'] as const
export type Trust = typeof TRUSTS[number]

/** The filters of a listing that the URL contains; a filter by metadata could reveal content. */
export interface Filters {
  speakers: string[]
  tags: string[]
  tagsMatch: 'any' | 'all'
  occurredAfter: string
  occurredBefore: string
  retainedAfter: string
  retainedBefore: string
  /** The bank is shown as it was stored at this instant; empty: now. */
  asOf: string
  validAt: string
  state: StateChoice
  documentId: string
  minTrust: Trust | ''
  trust: Trust | ''
  order: 'newest' | 'oldest'
}

const PARAMETER_NAMES = {
  occurredAfter: 'occurred_after',
  occurredBefore: 'occurred_before',
  retainedAfter: 'retained_after',
  retainedBefore: 'retained_before',
  asOf: 'as_of',
  validAt: 'valid_at',
  documentId: 'document',
} as const

const TEXT_NAMES = Object.keys(PARAMETER_NAMES) as Array<keyof typeof PARAMETER_NAMES>

function parseTrust (value: string | null): Trust | '' {
  return TRUSTS.find((trust) => trust === value) ?? ''
}

export function filtersOf (params: URLSearchParams): Filters {
  const text = (name: string) => params.get(name) ?? ''
  return {
    speakers: params.getAll('speaker'),
    tags: params.getAll('tag'),
    tagsMatch: params.get('tags_match') === 'all' ? 'all' : 'any',
    occurredAfter: text(PARAMETER_NAMES.occurredAfter),
    occurredBefore: text(PARAMETER_NAMES.occurredBefore),
    retainedAfter: text(PARAMETER_NAMES.retainedAfter),
    retainedBefore: text(PARAMETER_NAMES.retainedBefore),
    asOf: text(PARAMETER_NAMES.asOf),
    validAt: text(PARAMETER_NAMES.validAt),
    state: stateChoiceOf(params.get('state')),
    documentId: text(PARAMETER_NAMES.documentId),
    minTrust: parseTrust(params.get('min_trust')),
    trust: parseTrust(params.get('trust')),
    order: params.get('order') === 'oldest' ? 'oldest' : 'newest',
  }
}

/** Puts filters into the URL; defaults are omitted. */
export function applyFilters (changes: Partial<Filters>): void {
  const { speakers, tags, tagsMatch, state, minTrust, trust, order } = changes
  const params: Params = {
    ...(speakers !== undefined && { speaker: speakers }),
    ...(tags !== undefined && { tag: tags }),
    ...(tagsMatch !== undefined && { tags_match: tagsMatch === 'all' ? 'all' : null }),
    ...(state !== undefined && { state }),
    ...(minTrust !== undefined && { min_trust: minTrust }),
    ...(trust !== undefined && { trust }),
    ...(order !== undefined && { order: order === 'oldest' ? 'oldest' : null }),
  }
  for (const name of TEXT_NAMES) {
    if (changes[name] !== undefined) params[PARAMETER_NAMES[name]] = changes[name]
  }
  changeParams(params)
}

export const NO_FILTERS: Filters = filtersOf(new URLSearchParams())

/** How many filters are set, not counting the order. */
export function countFilters (filters: Filters, metadata: Metadata | undefined): number {
  const texts = [...TEXT_NAMES.map((name) => filters[name]), filters.state, filters.minTrust, filters.trust]
  const lists = [filters.speakers, filters.tags]
  return texts.filter((text) => text !== '').length + lists.filter(({ length }) => length > 0).length +
    (metadata === undefined ? 0 : 1)
}

/** The filters that a listing, a recall and a forget share. */
function commonFields ({ speakers, tags, tagsMatch, occurredAfter, occurredBefore }: Filters) {
  return {
    ...(speakers.length > 0 && { speakers }),
    ...(tags.length > 0 && { tags, tags_match: tagsMatch }),
    ...(occurredAfter !== '' && { occurred_after: occurredAfter }),
    ...(occurredBefore !== '' && { occurred_before: occurredBefore }),
  }
}

/** Which versions of memories a listing and a recall read. */
function versionFields ({ state, validAt, asOf }: Filters) {
  return {
    ...(state !== '' && { state }),
    ...(validAt !== '' && { valid_at: validAt }),
    ...(asOf !== '' && { as_of: asOf }),
  }
}

function retainedFields ({ retainedAfter, retainedBefore }: Filters) {
  return {
    ...(retainedAfter !== '' && { retained_after: retainedAfter }),
    ...(retainedBefore !== '' && { retained_before: retainedBefore }),
  }
}

export function listRequest (bank: string, filters: Filters, metadata: Metadata | undefined): ListMemoriesRequest {
  const { documentId, minTrust, trust, order } = filters
  return {
    bank_id: bank,
    ...commonFields(filters),
    ...versionFields(filters),
    ...retainedFields(filters),
    ...(metadata !== undefined && { metadata: JSON.stringify(metadata) }),
    ...(documentId !== '' && { document_id: documentId }),
    ...(minTrust !== '' && { min_trust: minTrust }),
    ...(trust !== '' && { trust }),
    ...(order === 'oldest' && { order }),
  }
}

/** A search by words only, with the filters that a recall supports. */
export function searchRequest (
  bank: string, query: string, filters: Filters, metadata: Metadata | undefined, maxResults: number,
): RecallRequest {
  return {
    bank_id: bank,
    query,
    strategies: ['lexical'],
    max_results: maxResults,
    ...commonFields(filters),
    ...versionFields(filters),
    ...(filters.minTrust !== '' && { min_trust: filters.minTrust }),
    ...(metadata !== undefined && { metadata }),
  }
}

/** The filters of a forget. */
export type ForgetFilters = Omit<ForgetRequest, 'bank_id' | 'memory_ids' | 'scope' | 'dry_run'>

/** Whether there is a filter that a forget does not have: of trust, state, or another time than now. */
function hasUnforgettable ({ trust, minTrust, state, validAt, asOf }: Filters): boolean {
  return [trust, minTrust, state, validAt, asOf].some((value) => value !== '')
}

/** @returns undefined without a filter, or with one by which nothing can be forgotten */
export function forgetFilters (filters: Filters, metadata: Metadata | undefined): ForgetFilters | undefined {
  if (hasUnforgettable(filters)) return undefined
  const selected: ForgetFilters = {
    ...commonFields(filters),
    ...retainedFields(filters),
    // The server refuses empty metadata, which would pass every memory.
    ...(metadata !== undefined && Object.keys(metadata).length > 0 && { metadata }),
    ...(filters.documentId !== '' && { document_ids: [filters.documentId] }),
  }
  return Object.keys(selected).length === 0 ? undefined : selected
}

/** Whether a memory passes the filters that a recall does not support. */
export function matchesRemainingFilters (
  { document_id: document, trust, retained_at: at }: Pick<Memory, 'document_id' | 'trust' | 'retained_at'>,
  filters: Filters,
): boolean {
  const retained = Date.parse(at)
  return (filters.documentId === '' || document === filters.documentId) &&
    (filters.trust === '' || trust === filters.trust) &&
    (filters.retainedAfter === '' || retained >= Date.parse(filters.retainedAfter)) &&
    (filters.retainedBefore === '' || retained < Date.parse(filters.retainedBefore))
}
