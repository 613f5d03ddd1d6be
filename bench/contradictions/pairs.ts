import { fileURLToPath } from 'node:url'
import { Type, type Static } from 'typebox'
import { findSuperseded, type SupersededKind } from '../../lib/operations/contradictions.js'
import { checker } from '../checker.js'
import { parseJson, readTextFile } from '../recall/conversation.js'

const Pair = Type.Object({
  /** Of a pair that supersedes, the kind of its change; of another, what makes it hard. */
  kind: Type.String(),
  said: Type.String(),
  later: Type.String(),
  said_by: Type.String(),
  later_by: Type.String(),
  said_at: Type.Optional(Type.String()),
  later_at: Type.Optional(Type.String()),
  said_key: Type.Optional(Type.String()),
  later_key: Type.Optional(Type.String()),
  supersedes: Type.Boolean(),
}, { additionalProperties: false })
type Pair = Static<typeof Pair>

const PATH = fileURLToPath(new URL('pairs.json', import.meta.url))
/** When a statement without a time was made. */
const SAID_AT = Date.UTC(2026, 0, 5)
const LATER_AT = Date.UTC(2026, 1, 10)

/** Every other pair: the rules were tuned on the first half, and the second one was left out until they stood. */
export const HALVES = ['tuning', 'held out'] as const
export type Half = typeof HALVES[number]

export interface PairOutcome extends Pair {
  half: Half
  proposed: SupersededKind | undefined
  detail: string | undefined
}

export async function measurePairs (): Promise<PairOutcome[]> {
  const pairs = checker(Type.Array(Pair), PATH)(parseJson(await readTextFile(PATH), PATH))
  return pairs.map((pair, index): PairOutcome => {
    const instantOf = (text: string | undefined, otherwise: number) => text === undefined ? otherwise : Date.parse(text)
    const trust = 'trusted'
    const [found] = findSuperseded({
      text: pair.later,
      speaker: pair.later_by,
      occurredAt: instantOf(pair.later_at, LATER_AT),
      trust,
      key: pair.later_key ?? null,
    }, [{
      memoryId: 'said',
      text: pair.said,
      speaker: pair.said_by,
      occurredAt: instantOf(pair.said_at, SAID_AT),
      trust,
      key: pair.said_key ?? null,
    }])
    return { ...pair, half: HALVES[index % 2]!, proposed: found?.because, detail: found?.detail }
  })
}

const REFLECT_PATH = fileURLToPath(new URL('../reflect/pairs.json', import.meta.url))
const ReflectPair = Type.Object({ said: Type.String(), later: Type.String(), both: Type.Optional(Type.Boolean()) })
const ReflectPairs = Type.Object({ pairs: Type.Array(ReflectPair), further_pairs: Type.Array(ReflectPair) })

export interface ParaphraseFigures {
  /** Of the file: the rules were tuned on its first half too. */
  half: 'first' | 'second'
  /** Pairs whose later statement replaces the other, and those that are found. */
  pairs: number
  found: number
  /** Pairs of which both stand, and those that are proposed nevertheless. */
  both: number
  wrong: number
}

/** The pairs of the reflect bench, which tell each change in other words than what it changes. */
export async function measureParaphrases (): Promise<ParaphraseFigures[]> {
  const { pairs: first, further_pairs: second } =
    checker(ReflectPairs, REFLECT_PATH)(parseJson(await readTextFile(REFLECT_PATH), REFLECT_PATH))
  return Object.entries({ first, second }).map(([half, pairs]): ParaphraseFigures => {
    const proposed = pairs.filter(({ said, later }) => {
      const of = (text: string, occurredAt: number) => (
        { text, speaker: 'user', occurredAt, trust: 'trusted' as const, key: null, memoryId: 'said' }
      )
      return findSuperseded(of(later, LATER_AT), [of(said, SAID_AT)]).length > 0
    })
    const both = pairs.filter((pair) => pair.both === true)
    const wrong = proposed.filter((pair) => pair.both === true).length
    return {
      half: half === 'first' ? 'first' : 'second',
      pairs: pairs.length - both.length,
      found: proposed.length - wrong,
      both: both.length,
      wrong,
    }
  })
}

export interface KindFigures {
  kind: string
  /** Pairs whose later statement supersedes by this kind, and those of them that are proposed, for any reason. */
  pairs: number
  found: number
  /** Proposals of this kind, and those of them that are right. */
  proposed: number
  right: number
}

export const KINDS: readonly SupersededKind[] = [
  'same_key', 'value', 'number', 'negation', 'place', 'near_duplicate',
]

/** The figures of each kind, and of all. */
export function figuresOf (outcomes: readonly PairOutcome[]): KindFigures[] {
  const figures = (kind: string, isOf: (one: string) => boolean): KindFigures => {
    const pairs = outcomes.filter((one) => one.supersedes && isOf(one.kind))
    const proposed = outcomes.filter((one) => one.proposed !== undefined && isOf(one.proposed))
    return {
      kind,
      pairs: pairs.length,
      found: pairs.filter((one) => one.proposed !== undefined).length,
      proposed: proposed.length,
      right: proposed.filter(({ supersedes }) => supersedes).length,
    }
  }
  return [...KINDS.map((kind) => figures(kind, (one) => one === kind)), figures('all', () => true)]
}
