import { bankKeyString, type BankKey } from '../../identity/context.js'
import type { EmbeddingSpace } from '../vector-store.js'
import type { Executor } from './executor.js'
import { retrySerializationFailures } from './retrying.js'
import { bankParameters } from './rows.js'
import type { AdoptionRow } from './space-statements.js'
import type { Statements } from './statements.js'

/** Maximum number of banks in each set. */
const MAX_REMEMBERED = 100_000

/** Caches which banks have the configured embedding space, and which have another. */
export class BankSpaces {
  readonly #executor: Executor
  readonly #statements: Statements
  readonly #adopted = new Set<string>()
  readonly #foreign = new Set<string>()
  #space: EmbeddingSpace | undefined
  #warn: (message: string) => void = () => {}

  constructor (executor: Executor, statements: Statements) {
    this.#executor = executor
    this.#statements = statements
  }

  start (space: EmbeddingSpace | undefined, warn: (message: string) => void): void {
    this.#space = space
    this.#warn = warn
  }

  /** Gives the bank the configured space, unless it has vectors of another. @returns the configured space */
  async adopt (bank: BankKey): Promise<EmbeddingSpace> {
    const space = this.#configured()
    const id = bankKeyString(bank)
    if (!this.#adopted.has(id)) {
      const hasSpace = await adoptSpace(this.#executor, this.#statements, bank, space)
      if (hasSpace) addBounded(this.#adopted, id)
    }
    return space
  }

  /**
   * Gives the configured space to a bank in which a write has not found it: any gateway may have deleted the bank.
   * @returns whether the bank has the space now; false when it was given to another model
   */
  async readopt (bank: BankKey): Promise<boolean> {
    const { model, dimensions } = this.#configured()
    const values = [...bankParameters(bank), model, dimensions]
    const [row] = await this.#executor.query<AdoptionRow>(this.#statements.spaces.adopt, values)
    return !row!.is_other
  }

  /** Records that the bank has another space, and warns the first time. */
  noteOtherSpace (bank: BankKey): void {
    const id = bankKeyString(bank)
    this.#adopted.delete(id)
    if (!this.#foreign.has(id)) {
      this.#warn(`embedding_provider: the bank ${bank.bankId} was moved to another model; what is retained there has ` +
        'no vector until the server runs with that provider')
    }
    addBounded(this.#foreign, id)
  }

  #configured (): EmbeddingSpace {
    if (this.#space !== undefined) return this.#space
    throw new Error('The store was started without an embedding space and cannot keep vectors')
  }
}

/**
 * Gives the bank an embedding space, unless it has vectors of another. A bank that has another space without vectors is
 * freed first, in a transaction that waits for the writes in progress: they may be storing vectors of that space.
 * @returns whether the bank has the space now
 */
export async function adoptSpace (
  executor: Executor, { spaces }: Statements, bank: BankKey, { model, dimensions }: EmbeddingSpace,
): Promise<boolean> {
  const values = [...bankParameters(bank), model, dimensions]
  const [row] = await executor.query<AdoptionRow>(spaces.adopt, values)
  if (row!.is_free !== true) return !row!.is_other
  return await retrySerializationFailures(async () => (
    await executor.transaction(async (tx) => {
      await tx.query(spaces.lock, bankParameters(bank))
      await tx.query(spaces.free, values)
      const [freed] = await tx.query<AdoptionRow>(spaces.adopt, values)
      return !freed!.is_other
    })
  ))
}

function addBounded (set: Set<string>, id: string): void {
  if (set.size >= MAX_REMEMBERED) set.clear()
  set.add(id)
}
