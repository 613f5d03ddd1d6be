import type { BankKey } from '../../access/context.js'
import type { ExtractionJob, HeldExtractions } from '../extraction-queue.js'
import { MemoryChangedError } from '../vector-store.js'
import type { Executor, Queries } from './executor.js'
import { bankParameters, type BankRow, toBankKey } from './rows.js'

/** Notes those of the memories that are stored as current ones. */
export async function noteExtractions (
  tx: Queries, schema: string, bank: BankKey, memoryIds: readonly string[], now: number,
): Promise<void> {
  await tx.query(`insert into ${schema}.extraction_jobs as j (bank_key, memory_id, attempts, not_before)
select m.bank_key, m.memory_id, 0, $3::float8::bigint
from ${schema}.memories m where m.bank_key = $1 and m.memory_id = any($2::text[]::uuid[])
on conflict (bank_key, memory_id) do update set attempts = 0, not_before = excluded.not_before`, [
    ...bankParameters(bank), memoryIds, now,
  ])
}

/** Lets noted memories be taken anew, because what they say has changed: who holds one stores no facts of it. */
export async function renewExtractions (
  tx: Queries, schema: string, bank: BankKey, memoryIds: readonly string[], now: number,
): Promise<void> {
  await tx.query(`update ${schema}.extraction_jobs j set attempts = 0, not_before = $3::float8::bigint
where j.bank_key = $1 and j.memory_id = any($2::text[]::uuid[])`, [...bankParameters(bank), memoryIds, now])
}

/** The condition of jobs `j` that are held: $1 bank, $2 ids, $3 until. */
const HELD = `j.bank_key = $1 and j.memory_id = any($2::text[]::uuid[])
  and j.not_before = $3::float8::bigint`

/** @throws MemoryChangedError when one of them is not held any more */
export async function endExtractions (
  tx: Queries, schema: string, bank: BankKey, { memoryIds, until }: HeldExtractions,
): Promise<void> {
  const ended = await tx.query(
    `delete from ${schema}.extraction_jobs j where ${HELD} returning j.memory_id::text as memory_id`,
    [...bankParameters(bank), memoryIds, until],
  )
  if (ended.length < new Set(memoryIds).size) throw new MemoryChangedError()
}

export async function dueExtractions (
  executor: Executor, schema: string, { now, limit }: { now: number, limit: number },
): Promise<BankKey[]> {
  const banks = await executor.read<BankRow>(`select distinct j.bank_key from ${schema}.extraction_jobs j
where j.not_before <= $1::float8::bigint limit $2::int`, [now, limit])
  return banks.map(toBankKey)
}

export async function takeExtractions (
  executor: Executor, schema: string, bank: BankKey,
  { now, until, limit }: { now: number, until: number, limit: number },
): Promise<ExtractionJob[]> {
  const key = bankParameters(bank)
  return await executor.transaction(async (tx) => {
    // Ids are made in the order of time.
    const jobs = await tx.query<{ memory_id: string, attempts: number }>(
      `select j.memory_id::text as memory_id, j.attempts from ${schema}.extraction_jobs j
where j.bank_key = $1 and j.not_before <= $2::float8::bigint order by j.memory_id limit $3::int
for update skip locked`, [...key, now, limit],
    )
    if (jobs.length === 0) return []
    const ids = jobs.map(({ memory_id: id }) => id)
    await tx.query(`update ${schema}.extraction_jobs j
set attempts = j.attempts + 1, not_before = $3::float8::bigint
where j.bank_key = $1 and j.memory_id = any($2::text[]::uuid[])`, [...key, ids, until])
    return jobs.map(({ memory_id: memoryId, attempts }) => ({ memoryId, attempts: attempts + 1 }))
  })
}

export async function settleExtractions (
  executor: Executor, schema: string, bank: BankKey, { memoryIds, until }: HeldExtractions,
  retry?: { retryAt: number, isCounted: boolean },
): Promise<void> {
  const held = [...bankParameters(bank), memoryIds, until]
  if (retry === undefined) await executor.query(`delete from ${schema}.extraction_jobs j where ${HELD}`, held)
  else {
    await executor.query(`update ${schema}.extraction_jobs j
set not_before = $4::float8::bigint, attempts = j.attempts - $5::int where ${HELD}`, [
      ...held, retry.retryAt, retry.isCounted ? 0 : 1,
    ])
  }
}
