import type { VersionsAnswer } from 'memory-gateway-client'
import { formatTime } from '../../text/format.js'

export type MemoryVersion = VersionsAnswer['versions'][number]

export interface FieldChange {
  label: string
  before: string
  after: string
}

const time = (at: string | null | undefined) => at === null || at === undefined ? '' : formatTime(at)

/** What a version consists of beside its text, in words. */
const FIELDS: ReadonlyArray<[label: string, valueOf: (version: MemoryVersion) => string | null | undefined]> = [
  ['State', ({ state }) => state],
  ['Superseded by', ({ superseded_by: id }) => id],
  ['Supersedes', ({ supersedes = [] }) => supersedes.join(', ')],
  ['Key', ({ key }) => key],
  ['Valid from', ({ valid_from: at }) => time(at)],
  ['Valid until', ({ valid_until: at }) => time(at)],
  ['Tags', ({ tags }) => tags.join(', ')],
  ['Speaker', ({ speaker }) => speaker],
  ['Occurred', ({ occurred_at: at }) => time(at)],
  ['Expires', ({ expires_at: at }) => time(at)],
  ['Metadata', ({ metadata }) => Object.keys(metadata).length === 0 ? '' : JSON.stringify(metadata)],
  ['Trust', ({ trust }) => trust],
]

/** The fields that differ between two versions, the text apart; empty where a version has none. */
export function fieldChanges (before: MemoryVersion, after: MemoryVersion): FieldChange[] {
  return FIELDS
    .map(([label, valueOf]) => ({ label, before: valueOf(before) ?? '', after: valueOf(after) ?? '' }))
    .filter((change) => change.before !== change.after)
}
