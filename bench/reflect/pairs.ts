import { readFileSync } from 'node:fs'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { buildApp } from '../../app.js'
import { parseEvents } from '../../test/helpers/events.js'
import { testConfig } from '../../test/helpers/config.js'

const Pairs = Type.Object({
  filler: Type.Array(Type.String()),
  pairs: Type.Array(Type.Object({
    kind: Type.String(),
    said: Type.String(),
    later: Type.String(),
    question: Type.String(),
    both: Type.Optional(Type.Boolean()),
  })),
})

/** How often a reflect finds what stands now, over pairs of a statement and a later one. */
export interface PairFigures {
  embeddings: string
  pairs: number
  /** The later statement, and both statements, are in the evidence. */
  later_in_evidence: number
  both_in_evidence: number
  /** The later statement is what the default answer cites first. Of the pairs in which it replaces the other. */
  replaced: number
  standing_first: number
  missed: string[]
}

const FIRST_DAY = Date.UTC(2026, 0, 1)
const DAY_MS = 86_400_000

/** Each pair has its own bank: filler, the statement, filler, the later statement, filler; a turn a day. */
export async function measurePairs (embeddings: 'mock' | 'local'): Promise<PairFigures> {
  const { filler, pairs } = Value.Parse(Pairs, JSON.parse(readFileSync('bench/reflect/pairs.json', 'utf8')))
  const app = await buildApp(testConfig({ file: { embedding_provider: embeddings } }), {
    log: { stream: { write: () => {} } },
  })
  const figures: PairFigures = {
    embeddings,
    pairs: pairs.length,
    later_in_evidence: 0,
    both_in_evidence: 0,
    replaced: 0,
    standing_first: 0,
    missed: [],
  }
  const post = async (url: string, body: object) => {
    const response = await app.inject({ method: 'POST', url, payload: body })
    if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}: ${response.body}`)
    return response
  }
  // The first event of a stream has the evidence, also of an answer that abstains.
  const evidenceFor = async (asked: object) => {
    const { body } = await app.inject({
      method: 'POST', url: '/v1/reflect', payload: asked, headers: { accept: 'text/event-stream' },
    })
    const { data } = parseEvents(body)[0] as { data: { sources: Array<{ text: string }> } }
    return new Set(data.sources.map(({ text }) => text))
  }
  try {
    for (const [index, { said, later, question, both }] of pairs.entries()) {
      const bankId = `pair-${index}`
      const texts = [...filler.slice(0, 10), said, ...filler.slice(10, 30), later, ...filler.slice(30)]
      await post('/v1/retain/batch', {
        bank_id: bankId,
        items: texts.map((content, day) => ({
          content, metadata: { speaker: 'user' }, occurred_at: new Date(FIRST_DAY + day * DAY_MS).toISOString(),
        })),
      })
      const asked = { bank_id: bankId, query: question }
      const { sources } = (await post('/v1/reflect', asked)).json<{ sources: Array<{ text: string }> }>()
      const found = await evidenceFor(asked)
      if (found.has(later)) figures.later_in_evidence += 1
      else figures.missed.push(later)
      if (found.has(later) && found.has(said)) figures.both_in_evidence += 1
      if (both === true) continue
      figures.replaced += 1
      if (sources[0]?.text === later) figures.standing_first += 1
    }
    return figures
  } finally {
    await app.close()
  }
}
