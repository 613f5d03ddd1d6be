import type { Executor } from '../../lib/stores/sql/executor.js'
import { gate } from './waiting.js'

/** An executor whose statements of one kind can be made to wait. */
interface BarrierExecutor {
  executor: Executor
  /** How many statements have come to the barrier since it was closed last. */
  arrived: () => number
  /**
   * Makes statements wait whose text and values contain this; `transaction` stands for each transaction.
   * @returns a function that lets them and all later ones pass
   */
  close: (kind: string) => () => void
}

/** @param more members of the executor besides those of the database */
export function barrierExecutor (database: Executor, more: Pick<Executor, 'status'> = {}): BarrierExecutor {
  let barrier: { kind: string, opened: Promise<void> } | undefined
  let arrived = 0
  const pass = async (kind: string) => {
    if (barrier === undefined || !kind.includes(barrier.kind)) return
    arrived++
    await barrier.opened
  }
  return {
    executor: {
      ...more,
      query: async (...given) => await database.query(...given),
      read: async <R extends object>(...given: Parameters<Executor['read']>) => {
        await pass(`${given[0]} ${String(given[1])}`)
        return await database.read<R>(...given)
      },
      maintain: async (text) => { await database.maintain(text) },
      transaction: async (...given) => {
        await pass('transaction')
        return await database.transaction(...given)
      },
      close: async () => {},
    },
    arrived: () => arrived,
    close: (kind) => {
      const { opened, open } = gate()
      arrived = 0
      barrier = { kind, opened }
      return () => {
        barrier = undefined
        open()
      }
    },
  }
}
