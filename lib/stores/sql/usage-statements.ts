/** Each begins with $1 tenant, $2 bank. */
export interface UsageStatements {
  /** $3 day, $4 counter, $5 amount, $6 limit: returns a row when the limit allows it. */
  reserve: string
  /** $3 day, $4 counter, $5 amount, which may be negative. */
  adjust: string
  /** $3 the first day to keep. */
  drop: string
}

/** A count stays within the integers that a double represents exactly. */
const MAX_COUNT = Number.MAX_SAFE_INTEGER

export function makeUsageStatements (schema: string): UsageStatements {
  return {
    reserve: `insert into ${schema}.daily_usage as u (tenant_id, bank_id, day, counter, used)
select $1, $2, $3::int, $4, $5::float8::bigint where $5::float8 <= $6::float8
on conflict (tenant_id, bank_id, day, counter) do update set used = u.used + excluded.used
where u.used + excluded.used <= $6::float8::bigint
returning u.counter`,
    adjust: `update ${schema}.daily_usage u set used = least(greatest(u.used + $5::float8::bigint, 0), ${MAX_COUNT})
where u.tenant_id = $1 and u.bank_id = $2 and u.day = $3::int and u.counter = $4`,
    drop: `delete from ${schema}.daily_usage u where u.tenant_id = $1 and u.bank_id = $2 and u.day < $3::int`,
  }
}
