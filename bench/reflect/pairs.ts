import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { buildApp } from '../../app.js'
import type { BankSettings } from '../../lib/config/schema.js'
import { parseEvents } from '../../test/helpers/events.js'
import { testConfig } from '../../test/helpers/config.js'
import { untilEmbedded } from '../recall/until-embedded.js'

const Pair = Type.Object({
  kind: Type.String(),
  said: Type.String(),
  later: Type.String(),
  question: Type.String(),
  /** The later statement does not replace the other. */
  both: Type.Optional(Type.Boolean()),
})
type Pair = Static<typeof Pair>
const Pairs = Type.Object({
  filler: Type.Array(Type.String()),
  pairs: Type.Array(Pair),
  /** Written before any result was seen. */
  further_pairs: Type.Array(Pair),
})
const Source = Type.Object({ text: Type.String() })
/** The first event of a stream has the evidence, also of an answer that abstains. */
const EvidenceEvent = Type.Object({
  event: Type.Literal('evidence'), data: Type.Object({ sources: Type.Array(Source) }),
})
const DoneEvent = Type.Object({
  event: Type.Literal('done'), data: Type.Object({ abstained: Type.Boolean(), sources: Type.Array(Source) }),
})

/** How often a reflect finds what stands now, over pairs of a statement and a later one. */
/** What tells a bank that the later statement replaces the other: nothing, a key, or a proposal that is accepted. */
export const TOLD = ['nothing', 'keys', 'proposals'] as const
export type Told = typeof TOLD[number]

export interface PairFigures {
  embeddings: string
  told: Told
  /** Which pairs: a half of them, or a kind of both halves. */
  group: string
  pairs: number
  /** The later statement, and both statements, are in the evidence. */
  later_in_evidence: number
  both_in_evidence: number
  /** The later statement is what the default answer cites first. Of the pairs in which it replaces the other. */
  replaced: number
  standing_first: number
  /** The replaced statement is in the evidence. */
  stale_in_evidence: number
}

/** A pair whose later statement is not found or, although it replaces the other, not cited first. */
export interface FailedPair extends Pair {
  embeddings: string
  told: Told
  later_in_evidence: boolean
  both_in_evidence: boolean
  said_in_evidence: boolean
  /** What the answer cites first instead; null when it abstains. */
  cited_first: string | null
}

type Outcome = FailedPair & { half: string }

const FIRST_DAY = Date.UTC(2026, 0, 1)
const DAY_MS = 86_400_000
const PAUSE_MS = 20
const ACCEPTED: BankSettings['signal_quality']['proposals'] = {
  mode: 'propose', accept: ['value', 'number', 'negation', 'place', 'near_duplicate'],
}

/** Each pair has its own bank: filler, the statement, filler, the later statement, filler; a turn a day. */
export async function measurePairs (
  embeddings: 'mock' | 'local', told: Told = 'nothing',
): Promise<{ figures: PairFigures[], failed: FailedPair[] }> {
  const { filler, pairs, further_pairs: further } =
    Value.Parse(Pairs, JSON.parse(readFileSync('bench/reflect/pairs.json', 'utf8')))
  const app = await buildApp(testConfig({
    file: {
      embedding_provider: embeddings,
      ...told === 'proposals' && { banks: { '*': { signal_quality: { proposals: ACCEPTED } } } },
    },
  }), {
    log: { stream: { write: () => {} } },
  })
  const outcomes: Outcome[] = []
  try {
    for (const [half, members] of Object.entries({ 'first half': pairs, 'second half': further })) {
      for (const [index, pair] of members.entries()) {
        const bankId = `${half.replace(' ', '-')}-${index}`
        outcomes.push({ half, ...pair, embeddings, told, ...await measurePair(app, bankId, pair, filler, told) })
      }
    }
  } finally {
    await app.close()
  }
  const groups = new Set([...outcomes.map(({ half }) => half), ...outcomes.map(({ kind }) => kind)])
  return {
    figures: [...groups].map((group) => ({
      embeddings, told, group, ...figuresOf(outcomes.filter(({ half, kind }) => half === group || kind === group)),
    })),
    failed: outcomes.flatMap(({ half: _, ...outcome }) => isFailed(outcome) ? [outcome] : []),
  }
}

async function measurePair (
  app: FastifyInstance, bankId: string, { said, later, question, both }: Pair, filler: readonly string[], told: Told,
): Promise<Pick<FailedPair, 'later_in_evidence' | 'both_in_evidence' | 'said_in_evidence' | 'cited_first'>> {
  const post = async (url: string, payload: object, headers = {}) => {
    const response = await app.inject({ method: 'POST', url, payload, headers })
    if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}: ${response.body}`)
    return response
  }
  const texts = [...filler.slice(0, 10), said, ...filler.slice(10, 30), later, ...filler.slice(30)]
  const items = texts.map((content, day) => ({
    content,
    metadata: { speaker: 'user' },
    occurred_at: new Date(FIRST_DAY + day * DAY_MS).toISOString(),
    // Who stores facts under keys knows that two of which both are so have two keys.
    ...told === 'keys' && both !== true && (content === said || content === later) && { key: 'user/matter' },
  }))
  // What is proposed is compared with what the bank has before the request.
  const at = texts.indexOf(later)
  for (const part of [items.slice(0, at), items.slice(at)]) {
    await post('/v1/retain/batch', { bank_id: bankId, items: part })
  }
  await untilEmbedded(async () => (await app.inject(`/v1/banks/${bankId}/stats`)).json(), { pauseMs: PAUSE_MS })
  const asked = { bank_id: bankId, query: question }
  const events = parseEvents((await post('/v1/reflect', asked, { accept: 'text/event-stream' })).body)
  const { data: { sources: evidence } } = Value.Parse(EvidenceEvent, events[0])
  const { data: { sources: cited } } = Value.Parse(DoneEvent, events.at(-1))
  const found = new Set(evidence.map(({ text }) => text))
  return {
    later_in_evidence: found.has(later),
    both_in_evidence: found.has(later) && found.has(said),
    said_in_evidence: found.has(said),
    cited_first: cited[0]?.text ?? null,
  }
}

function isFailed ({ later, both, later_in_evidence: isFound, cited_first: first }: FailedPair): boolean {
  return !isFound || (both !== true && first !== later)
}

function figuresOf (outcomes: readonly Outcome[]): Omit<PairFigures, 'embeddings' | 'told' | 'group'> {
  const replaced = outcomes.filter(({ both }) => both !== true)
  return {
    pairs: outcomes.length,
    later_in_evidence: outcomes.filter((one) => one.later_in_evidence).length,
    both_in_evidence: outcomes.filter((one) => one.both_in_evidence).length,
    replaced: replaced.length,
    standing_first: replaced.filter(({ cited_first: first, later }) => first === later).length,
    stale_in_evidence: replaced.filter((one) => one.said_in_evidence).length,
  }
}
