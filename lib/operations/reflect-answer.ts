import { CitationFilter } from '../answering/citations.js'
import { readStructuredSteps, repairMessage, type Steps } from '../answering/structured.js'
import type { Deadline } from '../base/deadline.js'
import { giveWay, isDue } from '../base/event-loop.js'
import type { Generation, JsonSchema, LanguageModel } from '../models/language-model.js'
import { visibleText } from '../text/disguises.js'
import {
  addUsage, NO_USAGE, type MeteredCall, type MeteredLanguageModel, type ModelUsage,
} from './metered-language-model.js'
import { UnusableGeneration, unusableFor } from './model-errors.js'

/** Number of characters that are filtered before yielding to the event loop; a model may return a megabyte of text. */
const CHARACTERS_PER_STEP = 2_048

/** One call for an answer, with its deadline. */
export interface AnswerRequest {
  meteredModel: MeteredLanguageModel
  call: MeteredCall
  deadline: Deadline
  /** The texts whose web addresses the answer may contain. */
  linkableTexts: readonly string[]
}

/** An answer after the citation filter. */
export interface ModelAnswer {
  text: string
  abstained: boolean
  /** The evidence that the text cites: `[1]` cites the first. Numbers of the prompt. */
  cited: readonly number[]
  /** Whether no mark cites evidence. */
  unverified: boolean
  /** Whether the answer was cut off at max_tokens. */
  truncated: boolean
  structured?: Record<string, unknown> | undefined
  usage: ModelUsage
}

/**
 * Generates the answer with one call, without streaming.
 * @throws ServiceError quota_exceeded; errors of the call
 */
export async function generateAnswer (question: AnswerRequest): Promise<ModelAnswer> {
  const generation = await question.meteredModel.generate(question.call)
  return { ...await filterCitations(generation, question), usage: generation.usage }
}

/**
 * Streams the answer of one call through the citation filter.
 * @returns the answer as a whole
 */
export async function * streamAnswer (
  { meteredModel, call, linkableTexts }: AnswerRequest,
): AsyncGenerator<string, ModelAnswer> {
  const filter = new CitationFilter(call.grounding.evidence.length, { sourceTexts: linkableTexts })
  let text = ''
  for await (const part of meteredModel.stream(call)) {
    if (part.type === 'text') {
      for await (const shown of filtered(filter, part.text)) {
        text += shown
        yield shown
      }
      continue
    }
    const last = filter.end()
    requireText(part.finish, last.abstained ? 'abstained' : text + last.text)
    if (!last.abstained && last.text !== '') yield last.text
    return { ...last, text: (text + last.text).trim(), truncated: part.finish === 'length', usage: part.usage }
  }
  throw new UnusableGeneration()
}

/**
 * Generates an answer that follows the caller's schema. An answer that violates it is sent back to the model once, with
 * its problems.
 * @throws UnusableGeneration when the second answer violates it too
 */
export async function generateStructuredAnswer (question: AnswerRequest, schema: JsonSchema): Promise<ModelAnswer> {
  const { meteredModel, call, deadline } = question
  let usage: ModelUsage = NO_USAGE
  let messages = call.messages
  for (const isRepair of [false, true]) {
    const generation = await meteredModel.generate({
      ...call, messages, timeoutMs: isRepair ? Math.max(1, deadline.remainingMs()) : call.timeoutMs,
    })
    usage = addUsage(usage, generation.usage)
    const read = await givingWay(readStructuredSteps(generation.text, schema))
    if (read.ok) {
      const answer = await filterCitations({ ...generation, text: read.answer }, question)
      const structured = answer.abstained ? undefined : visibleStrings(read.structured)
      return { ...answer, truncated: false, usage, structured }
    }
    messages = [
      ...call.messages, { role: 'assistant', content: generation.text },
      { role: 'user', content: repairMessage(read.problems) },
    ]
  }
  throw new UnusableGeneration('The language model twice gave an answer that does not satisfy the response_schema')
}

/** Builds the answer from sentences of the evidence, without the configured model. */
export async function extractiveAnswer (model: LanguageModel, question: AnswerRequest): Promise<ModelAnswer> {
  const { signal: _, ...request } = question.call
  const generation = await model.generate(request)
  return { ...await filterCitations(generation, question), usage: NO_USAGE }
}

async function filterCitations (
  generation: Pick<Generation, 'text' | 'finish'>, { call, linkableTexts }: AnswerRequest,
): Promise<Omit<ModelAnswer, 'structured' | 'usage'>> {
  const filter = new CitationFilter(call.grounding.evidence.length, { sourceTexts: linkableTexts })
  const parts: string[] = []
  for await (const shown of filtered(filter, generation.text)) parts.push(shown)
  const last = filter.end()
  const text = [...parts, last.text].join('').trim()
  requireText(generation.finish, last.abstained ? 'abstained' : text)
  return { ...last, text, truncated: generation.finish === 'length' }
}

/** Filters a text in pieces, and yields to the event loop between them. @returns the pieces to show */
async function * filtered (filter: CitationFilter, text: string): AsyncGenerator<string, void> {
  for (let start = 0; start < text.length; start += CHARACTERS_PER_STEP) {
    if (isDue()) await giveWay()
    const shown = filter.push(text.slice(start, start + CHARACTERS_PER_STEP))
    if (shown !== '') yield shown
  }
}

/** A schema may demand hundreds of thousands of comparisons, so the event loop is given back between them. */
async function givingWay<T> (steps: Steps<T>): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    if (isDue()) await giveWay()
  }
}

/** Removes hidden characters from the strings of a structured answer. readStructuredSteps() bounds its depth. */
function visibleStrings<T> (value: T): T {
  if (typeof value === 'string') return visibleText(value) as T
  if (Array.isArray(value)) return value.map(visibleStrings) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, visibleStrings<unknown>(member)])) as T
}

/** Rejects an empty answer, and one that the model's content filter cut. */
function requireText (finish: Generation['finish'], text: string): void {
  if (finish === 'filtered' || text.trim() === '') throw unusableFor(finish)
}
