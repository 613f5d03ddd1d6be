import { formatInstant } from '../clock.js'
import { ServiceError } from '../errors.js'
import type { RequestContext } from '../identity/context.js'
import type { Evidence, Generation } from '../models/language-model.js'
import type { FusedCandidate } from '../retrieval/fusion.js'
import type { Dependencies } from './dependencies.js'
import { readableBanks, tokenBudget } from './reader.js'
import { readFilters, toHit } from './records.js'
import { reflectPrompt } from './reflect-prompt.js'
import type { ReflectAnswer, ReflectRequest } from './schemas.js'

/** Memories that an answer may rest on, and their tokens together: room for a short prompt on any current model. */
const MAX_EVIDENCE = 20
const MAX_EVIDENCE_TOKENS = 6000
const DEFAULT_MAX_TOKENS = 1024
const NO_EVIDENCE = 'There are no memories that answer this.'

/** reflect: recall, then one model call over the evidence. */
export class Reflector {
  readonly #deps: Dependencies

  constructor (deps: Dependencies) {
    this.#deps = deps
  }

  async reflect (request: ReflectRequest, context: RequestContext, signal?: AbortSignal): Promise<ReflectAnswer> {
    const { admission, settings, retriever } = this.#deps
    const banks = readableBanks(request, context, this.#deps)
    const filters = readFilters(request)
    const admitted = admission.admit('reflect', context, banks)
    try {
      const policies = banks.map(({ bankId }) => settings.of(bankId).homeostasis)
      const { hits } = await retriever.retrieve({
        query: request.query,
        banks,
        filters,
        limit: MAX_EVIDENCE,
        maxTokens: tokenBudget(MAX_EVIDENCE_TOKENS, policies.map((policy) => policy.recall_max_tokens))!,
        ...(signal !== undefined && { signal }),
      })
      if (hits.length === 0) return { answer: NO_EVIDENCE, sources: [], abstained: true, usage: { tokens: 0, input_tokens: 0, output_tokens: 0 } }
      const maxTokens = tokenBudget(request.max_tokens, policies.map((policy) => policy.reflect_max_tokens)) ?? DEFAULT_MAX_TOKENS
      const { text, usage } = await this.#generate(request.query, hits, maxTokens, signal)
      return {
        answer: text,
        sources: request.include_sources === false ? [] : hits.map((hit) => toHit(hit, false)),
        abstained: false,
        usage: { tokens: usage.inputTokens + usage.outputTokens, input_tokens: usage.inputTokens, output_tokens: usage.outputTokens },
      }
    } catch (error) {
      admitted.release()
      throw error
    }
  }

  async #generate (question: string, hits: readonly FusedCandidate[], maxTokens: number, signal?: AbortSignal): Promise<Generation> {
    const evidence = hits.map(({ memory, bank }): Evidence => ({
      text: memory.text,
      bankId: bank.bankId,
      occurredAt: memory.occurredAt === null ? null : formatInstant(memory.occurredAt),
    }))
    let generation: Generation
    try {
      generation = await this.#deps.languageModel.generate({
        messages: reflectPrompt(question, evidence),
        grounding: { question, evidence },
        maxTokens,
        ...(signal !== undefined && { signal }),
      })
    } catch (cause) {
      if (cause instanceof ServiceError) throw cause
      throw new ServiceError('dependency_unavailable', 'The language model is unavailable', { cause })
    }
    if (!isUsable(generation)) throw new ServiceError('model_output_invalid', 'The language model gave an unusable answer')
    return generation
  }
}

function isUsable (generation: Partial<Generation> | undefined): generation is Generation {
  return typeof generation?.text === 'string' && generation.text.trim() !== '' &&
    Number.isInteger(generation.usage?.inputTokens) && Number.isInteger(generation.usage?.outputTokens)
}
