import { Document, type DocumentInterface } from '@langchain/core/documents'
import { BaseRetriever, type BaseRetrieverInput } from '@langchain/core/retrievers'
import type { RunnableConfig } from '@langchain/core/runnables'
import type { MemoryGatewayClient } from './client.js'
import type { CallOptions } from './options.js'
import type { Hit, RecallRequest } from './types.js'

/** The members of a hit besides its text. The memory's own metadata is under `metadata`. */
export type MemoryDocumentMetadata = Omit<Hit, 'text' | 'scores'>

export interface MemoryRetrieverFields extends BaseRetrieverInput {
  client: MemoryGatewayClient
  /** The banks, the filters and the bounds of each recall. */
  request: RecallRequest extends infer One ? One extends RecallRequest ? Omit<One, 'query'> : never : never
  call?: CallOptions
}

/**
 * Memories as documents: the text as `pageContent`, the memory's id as `id`, the score and the rest as `metadata`. As
 * with every retriever, errors of the gateway are thrown.
 */
export class MemoryGatewayRetriever extends BaseRetriever<MemoryDocumentMetadata> {
  lc_namespace = ['memory_gateway', 'retrievers']
  readonly #fields: MemoryRetrieverFields

  static override lc_name (): string {
    return 'MemoryGatewayRetriever'
  }

  constructor (fields: MemoryRetrieverFields) {
    // The client may hold a credential, and the base class keeps its arguments for tracing.
    const { client, request, call, ...base } = fields
    super(base)
    this.#fields = fields
  }

  override async invoke (
    query: string, options?: Partial<RunnableConfig>,
  ): Promise<Array<DocumentInterface<MemoryDocumentMetadata>>> {
    const { signal } = options ?? {}
    if (signal === undefined || signal === this.#fields.call?.signal) return await super.invoke(query, options)
    // The base class does not pass the signal to the method below.
    const bound = new MemoryGatewayRetriever({ ...this.#fields, call: { ...this.#fields.call, signal } })
    return await bound.invoke(query, options)
  }

  override async _getRelevantDocuments (query: string): Promise<Array<DocumentInterface<MemoryDocumentMetadata>>> {
    const { client, request, call } = this.#fields
    const { hits } = await client.recall({ ...request, query }, call)
    return hits.map(({ text, scores, ...metadata }) => (
      new Document({ id: metadata.memory_id, pageContent: text, metadata })
    ))
  }
}
