import type { MemoryService } from '../../lib/operations/memory-service.js'
import { contentStems } from '../../lib/text/analysis.js'
import { withSpeakerApart } from '../recall/attributes.js'
import { builtService } from '../recall/built-service.js'
import { loadConversations, type Conversation, type Question } from '../recall/conversation.js'
import { inProcess } from '../recall/measured-service.js'
import { retainTurns } from '../recall/measure.js'
import { choosePipeline } from '../recall/pipelines.js'
import { untilEmbedded } from '../recall/until-embedded.js'

/** How good the answers without a language model are. Shares are from 0 to 1. */
export interface Quality {
  data: string
  embeddings: string
  questions: number
  foreign: number
  /** Of the answers given: the first memory that is cited is evidence. */
  first_is_evidence: number
  /** Content words of the expected answer in the answer, over all questions; an abstention has none. */
  gold_words: number
  /** Of the answers given: those that quote a question, or a greeting or mere reaction. */
  quotes_question: number
  quotes_greeting: number
  abstained: number
  /** Of the questions of other conversations, which the bank cannot answer. */
  abstained_foreign: number
}

export const QUALITY_FIGURES = [
  'first_is_evidence', 'gold_words', 'quotes_question', 'quotes_greeting', 'abstained', 'abstained_foreign',
] as const satisfies ReadonlyArray<keyof Quality>

/** Questions of the next conversation that each bank is asked. */
const MAX_FOREIGN = 60
const CONTEXT = { tenantId: null }
const QUOTE = /"(.*)"(?: \([^()]*\))? \[\d+\]/g
const ASKS = /[?？؟]["'”’)\]]*(?:\s|$)/u
const GREETING = new RegExp([
  String.raw`^(?:hey|hi|hello)\b|(?:^|[.!?]\s+)(?:hey|hi|hello|wow|thanks|thank you|yeah|yep|yes|yup|nope|oh|aww?|bye`,
  String.raw`|congrats|congratulations|good morning)\b(?:[,\s]+[\p{L}'’]+){0,3}[.!](?:\s|$)`,
].join(''), 'iu')

interface Asked {
  /** Absent: the bank is not about it. */
  evidence?: ReadonlySet<string>
  gold: readonly string[]
  answer: string
  abstained: boolean
  first: string | undefined
}

/** Stores each conversation in a bank of its own, with the speaker as a field, and asks its questions and others'. */
export async function measureQuality (path: string, embeddings: 'mock' | 'local'): Promise<Quality> {
  const conversations = withSpeakerApart(await loadConversations(path))
  const { service } = await builtService({ pipeline: await choosePipeline('default'), embedder: { name: embeddings } })
  const asked: Asked[] = []
  try {
    for (const [index, conversation] of conversations.entries()) {
      const bank = `quality-${index}`
      const measured = inProcess(service)
      const { memories } = await retainTurns(measured, bank, conversation)
      await untilEmbedded(async () => await measured.statistics(bank))
      const turnOf = new Map([...memories].flatMap(([turn, ids]) => ids.map((id) => [id, turn] as const)))
      for (const question of conversation.questions) {
        asked.push({ evidence: new Set(question.evidence), ...await ask(service, bank, question, turnOf) })
      }
      const others = foreignQuestions(conversations, index)
      if (conversations.length > 1) {
        for (const question of others) asked.push(await ask(service, bank, question, turnOf))
      }
      await measured.forgetAll(bank)
    }
  } finally {
    await service.close()
  }
  return { data: path, embeddings, ...figuresOf(asked) }
}

function foreignQuestions (conversations: readonly Conversation[], index: number): Question[] {
  const { questions } = conversations[(index + 1) % conversations.length]!
  const step = Math.max(1, Math.floor(questions.length / MAX_FOREIGN))
  return questions.filter((_, place) => place % step === 0)
}

async function ask (
  service: MemoryService, bank: string, { text, answer: expected = '', askedAt }: Question,
  turnOf: ReadonlyMap<string, string>,
): Promise<Asked> {
  const { answer, abstained, sources } = await service.reflect({
    bank_id: bank,
    query: text,
    ...(askedAt !== undefined && { reference_time: new Date(askedAt).toISOString() }),
  }, CONTEXT)
  const [first] = sources
  return {
    gold: [...new Set(contentStems(expected))],
    answer,
    abstained,
    first: first === undefined ? undefined : turnOf.get(first.memory_id),
  }
}

function figuresOf (asked: readonly Asked[]): Omit<Quality, 'data' | 'embeddings'> {
  const own = asked.filter(({ evidence }) => evidence !== undefined)
  const foreign = asked.filter(({ evidence }) => evidence === undefined)
  const given = own.filter(({ abstained }) => !abstained)
  const expecting = own.filter(({ gold }) => gold.length > 0)
  const share = (items: readonly Asked[], holds: (item: Asked) => boolean) => items.filter(holds).length / items.length
  const quotesOf = ({ answer }: Asked) => [...answer.matchAll(QUOTE)].map(([, quote]) => quote!)
  return {
    questions: own.length,
    foreign: foreign.length,
    first_is_evidence: share(given, ({ first, evidence }) => first !== undefined && evidence!.has(first)),
    gold_words: expecting.reduce((sum, one) => sum + goldShare(one), 0) / expecting.length,
    quotes_question: share(given, (one) => quotesOf(one).some((quote) => ASKS.test(quote))),
    quotes_greeting: share(given, (one) => quotesOf(one).some((quote) => GREETING.test(quote))),
    abstained: share(own, ({ abstained }) => abstained),
    abstained_foreign: foreign.length === 0 ? NaN : share(foreign, ({ abstained }) => abstained),
  }
}

function goldShare ({ gold, answer, abstained }: Asked): number {
  if (abstained) return 0
  const found = new Set(contentStems(answer))
  return gold.filter((stem) => found.has(stem)).length / gold.length
}
