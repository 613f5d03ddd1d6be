import { basename } from 'node:path'
import { performance } from 'node:perf_hooks'
import { findSuperseded, type Comparable, type SupersededKind } from '../../lib/operations/contradictions.js'
import { contentStems } from '../../lib/text/analysis.js'
import { loadConversations } from '../recall/conversation.js'

/** As many as a retain compares. */
const CANDIDATES = 20

interface StoredTurn extends Comparable {
  memoryId: string
}

export interface Proposal {
  conversation: string
  because: SupersededKind
  detail: string
  said: string
  later: string
  speaker: string | null
}

export interface ConversationFigures {
  data: string
  turns: number
  comparisons: number
  proposals: Proposal[]
  /** Mean milliseconds for one turn and its candidates. */
  ms_a_turn: number
}

/** Each turn is compared with the 20 earlier ones that share most of its rare words. */
export async function measureConversations (path: string): Promise<ConversationFigures> {
  const proposals: Proposal[] = []
  let turns = 0
  let comparisons = 0
  let ms = 0
  for (const { id, sessions } of await loadConversations(path)) {
    const earlier = new EarlierTurns()
    for (const turn of sessionTurns(sessions)) {
      const candidates = earlier.nearest(turn.text)
      const started = performance.now()
      const found = findSuperseded(turn, candidates)
      ms += performance.now() - started
      for (const { memoryId, because, detail } of found) {
        const said = candidates.find((candidate) => candidate.memoryId === memoryId)!.text
        proposals.push({ conversation: id, because, detail, said, later: turn.text, speaker: turn.speaker })
      }
      turns++
      comparisons += candidates.length
      earlier.add(turn)
    }
  }
  return { data: basename(path), turns, comparisons, proposals, ms_a_turn: ms / turns }
}

function * sessionTurns (sessions: Awaited<ReturnType<typeof loadConversations>>[number]['sessions']) {
  for (const { id, turns } of sessions) {
    for (const { id: turnId, contents, role, apart, occurredAt } of turns) {
      for (const [part, text] of (apart?.contents ?? contents).entries()) {
        const turn: StoredTurn = {
          memoryId: `${id} ${turnId} ${part}`,
          text,
          speaker: apart?.speaker ?? role ?? null,
          occurredAt: occurredAt ?? null,
          trust: 'trusted',
          key: null,
        }
        yield turn
      }
    }
  }
}

class EarlierTurns {
  readonly #turns: StoredTurn[] = []
  /** By stem, the places of the turns that have it. */
  readonly #places = new Map<string, number[]>()

  add (turn: StoredTurn): void {
    for (const stem of new Set(contentStems(turn.text))) {
      const places = this.#places.get(stem)
      if (places === undefined) this.#places.set(stem, [this.#turns.length])
      else places.push(this.#turns.length)
    }
    this.#turns.push(turn)
  }

  nearest (text: string): StoredTurn[] {
    const scores = new Map<number, number>()
    for (const stem of new Set(contentStems(text))) {
      const places = this.#places.get(stem) ?? []
      const weight = Math.log(1 + this.#turns.length / places.length)
      for (const place of places) scores.set(place, (scores.get(place) ?? 0) + weight)
    }
    return [...scores].sort((a, b) => b[1] - a[1]).slice(0, CANDIDATES).map(([place]) => this.#turns[place]!)
  }
}
