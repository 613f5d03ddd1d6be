-- What banks have used of their daily quotas (lib/policy/usage-counters.ts): one row a bank, UTC day and quota that is set.
--
-- A server of the last release counts for itself and leaves the table alone. The sweeper removes rows of past days.
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
