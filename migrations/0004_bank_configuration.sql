-- The configuration of banks, as their admins set it, with its history, and the changes that other servers look for.
--
-- It is kept apart from the memories and outlives them; only the removal of the bank takes it away. Servers of the last release know
-- nothing of these tables and go on beside them.

-- What is in force: one row a bank. A bank without a configuration of its own, or whose own was taken back, has none.
create table bank_configurations (
  tenant_id text collate "C" not null,
  bank_id text collate "C" not null,
  -- Of the change that set it. Revisions are given by the application, one after the other for all banks.
  revision bigint not null,
  document text not null,
  updated_at bigint not null,
  -- The principal; null for an anonymous caller.
  updated_by text,
  primary key (tenant_id, bank_id)
);

-- The newest changes of each bank, the one in force included.
create table bank_configuration_history (
  tenant_id text collate "C" not null,
  bank_id text collate "C" not null,
  revision bigint not null,
  -- Null where the configuration was taken back.
  document text,
  updated_at bigint not null,
  updated_by text,
  primary key (tenant_id, bank_id, revision)
);

-- Which bank each revision changed, for servers that keep configurations in memory. The one table whose key does not begin with the bank:
-- it is read in the order of the changes, whatever the bank. Changes of more than a day ago are gone, but the newest one stays, because the
-- next revision follows from it.
create table bank_configuration_changes (
  tenant_id text collate "C" not null,
  bank_id text collate "C" not null,
  revision bigint not null,
  changed_at bigint not null,
  primary key (revision)
);
