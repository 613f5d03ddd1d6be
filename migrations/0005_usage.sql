-- What banks have used of their daily quotas (lib/policy/usage-counters.ts): one row a bank, UTC day and quota, of quotas that are set.
--
-- A server of the last release counts for itself and leaves the table alone. Rows of days that are over are removed by the sweeper.
create table daily_usage (
  tenant_id text collate "C" not null,
  bank_id text collate "C" not null,
  -- Days since the epoch.
  day integer not null,
  -- The quota's name in the configuration.
  counter text collate "C" not null,
  used bigint not null,
  primary key (tenant_id, bank_id, day, counter)
) with (fillfactor = 50);
