import { performance } from 'node:perf_hooks'
import { findSuperseded } from '../../lib/operations/contradictions.js'

export interface Cost {
  characters: number
  /** Mean milliseconds of one call with 20 candidates. */
  ms: number
}

const SENTENCES = ['I live in Lisbon near the river.', 'My favourite colour is green, always was.',
  'The meeting with the Baxter team is at 3 pm.', 'We walked along the beach and talked about the old days.']
const CANDIDATES = 20
const SHORT_ROUNDS = 500

/** What one new memory costs that is compared with 20 candidates of its length. */
export function measureCost (): Cost[] {
  return [60, 250, 1_000, 50_000].map((characters) => {
    const of = (place: number) => ({
      memoryId: String(place),
      text: SENTENCES.map((_, at) => SENTENCES[(at + place) % SENTENCES.length]!).join(' ')
        .repeat(Math.ceil(characters / 150)).slice(0, characters),
      speaker: 'user',
      occurredAt: place,
      trust: 'trusted' as const,
      key: null,
    })
    const candidates = Array.from({ length: CANDIDATES }, (_, place) => of(place))
    const memory = of(CANDIDATES)
    const rounds = Math.max(10, Math.floor(SHORT_ROUNDS * 60 / characters))
    for (let round = 0; round < rounds; round++) findSuperseded(memory, candidates)
    const started = performance.now()
    for (let round = 0; round < rounds; round++) findSuperseded(memory, candidates)
    return { characters, ms: (performance.now() - started) / rounds }
  })
}
