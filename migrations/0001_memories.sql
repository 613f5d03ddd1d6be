-- Memories, what search needs of them, the configuration of banks, what they have used, and the answers kept for
-- idempotency keys.
--
-- Rules of every table: bank_key leads each key and index, so that partitions, shards and poolers can carry the same
-- statements. It is made by bankKeyString in lib/access/context.ts: the tenant, '' for none, then U+001F, then the
-- bank. Ids are made by the application. Instants are milliseconds since the epoch, as the application has them. Text
-- that is compared or sorted is compared by code point, so that no locale changes an order or an index.

-- In a schema that every role's path has, where it is not there yet: statements name its types without one.
create extension if not exists vector with schema public;

-- Which embedding model a bank's vectors are of; a bank without vectors has no row. Searches and writes go by it, so
-- that a bank moves to another model in one update.
create table embedding_spaces (
  bank_key text collate "C" not null,
  model text collate "C" not null,
  dimensions integer not null,
  primary key (bank_key)
);

create table memories (
  bank_key text collate "C" not null,
  memory_id uuid not null,
  fingerprint text collate "C" not null,
  text text not null,
  tags text[] collate "C" not null,
  metadata jsonb not null,
  occurred_at bigint,
  retained_at bigint not null,
  expires_at bigint,
  document_id text collate "C",
  source text,
  speaker text collate "C",
  -- Of a message of a conversation, which document_id names: its role, name, id, position and digest.
  message jsonb,
  tokens integer not null,
  -- How far it may be believed: suspect, untrusted or trusted (lib/access/trust.ts).
  trust text collate "C" not null,
  -- The changes of the memory are counted from 1. Rows of this table are of the state `current`; what is superseded or
  -- retired is in memories_past.
  version integer not null,
  state text collate "C" not null,
  -- A slot that one current memory of the bank fills.
  key text collate "C",
  -- Since when and until when it is so in the world, half-open.
  valid_from bigint,
  valid_until bigint,
  supersedes uuid[] not null,
  superseded_by uuid,
  kind text collate "C" not null,
  derived_from uuid[] not null,
  -- When, by whom and why this version was made.
  changed_at bigint not null,
  changed_by text,
  reason text,
  -- UTF-16 offsets of the passages in the text, half-open; element n belongs to ordinal n - 1.
  passage_starts integer[] not null,
  passage_ends integer[] not null,
  -- Distinct index terms: where the memory's postings are.
  terms text[] collate "C" not null,
  -- The sum of the passages' lengths, which the bank's statistics lose with the memory.
  passages_length double precision not null,
  -- Whether its passages have vectors of the bank's model.
  embedded boolean not null,
  -- Whether its text ends in a question, which the memory after it may answer.
  question boolean not null,
  -- Where a memory stands in its document, before the id, and the mean length of its passages. An index has columns for
  -- its searches to read from it alone, and no expressions.
  place bigint not null generated always as (coalesce(occurred_at, retained_at)) stored,
  passage_length double precision generated always as (passages_length / nullif(cardinality(passage_starts), 0)) stored,
  -- For people who read the table.
  tenant_id text collate "C" generated always as (split_part(bank_key, E'\x1f', 1)) stored,
  bank_id text collate "C" generated always as (split_part(bank_key, E'\x1f', 2)) stored,
  primary key (bank_key, memory_id),
  unique (bank_key, fingerprint)
);
-- Lists and exports run along it, and so does the list of banks.
create index memories_in_order on memories (bank_key, retained_at, memory_id) include (expires_at);
create index memories_expiring on memories (bank_key, expires_at) where expires_at is not null;
-- A question that names only a time lists the memories that occurred in a period, and those without such a time that
-- were retained in it: each memory has one entry in one of the two.
create index memories_dated on memories (bank_key, occurred_at) where occurred_at is not null;
create index memories_undated on memories (bank_key, retained_at, memory_id) where occurred_at is null;
-- A document in its order, and memories without one in theirs, for the neighbours of a place (lib/stores/context.ts).
create index memories_in_document on memories (bank_key, document_id, place, memory_id) include (question, expires_at, passage_length)
  where document_id is not null;
create index memories_without_document on memories (bank_key, place, memory_id) include (question, expires_at, passage_length)
  where document_id is null;
create unique index memories_keyed on memories (bank_key, key) where key is not null;
-- A conversation in its order, and the conversations of a bank.
create index memories_in_conversation on memories (bank_key, document_id, retained_at, memory_id) include (expires_at)
  where message is not null;
-- What waits for its vectors.
create index memories_unembedded on memories (bank_key, memory_id) where not embedded;
-- What was derived from other memories, and goes with the last of them.
create index memories_derived on memories (bank_key, memory_id) where kind = 'fact';

-- The inverted index: one row for each term of each passage.
create table postings (
  bank_key text collate "C" not null,
  term text collate "C" not null,
  memory_id uuid not null,
  ordinal smallint not null,
  weight real not null,
  -- Length of the passage, for the normalisation of BM25.
  length real not null,
  expires_at bigint,
  -- What a score is made of is in the index, so that a search need not go to the table where vacuum has been.
  primary key (bank_key, term, memory_id, ordinal) include (weight, length, expires_at)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

create table embeddings (
  bank_key text collate "C" not null,
  model text collate "C" not null,
  memory_id uuid not null,
  ordinal smallint not null,
  dimensions integer not null,
  expires_at bigint,
  -- Of unit length, so that the range of half precision is never left.
  embedding halfvec not null,
  primary key (bank_key, memory_id, ordinal, model),
  check (vector_dims(embedding) = dimensions)
);
-- Inline as long as a page has room: an exact search reads every vector of a bank.
alter table embeddings alter column embedding set storage main;

-- What is past: superseded and retired memories, and the earlier versions of all memories, in tables of the same form
-- that reads of what is current never touch. A last version has the id of its memory; an earlier one has an id of its
-- own, the id of its memory in version_of, and no expires_at, because it lasts as long as its memory.
create table memories_past (
  like memories including generated including storage,
  version_of uuid,
  -- When the next version was made.
  ended_at bigint,
  redacted boolean not null default false,
  -- What the version had as expires_at.
  told_expires_at bigint,
  primary key (bank_key, memory_id)
);
create index memories_past_in_order on memories_past (bank_key, retained_at, memory_id);
create index memories_past_in_document on memories_past (bank_key, document_id, place, memory_id)
  where document_id is not null;
create index memories_past_without_document on memories_past (bank_key, place, memory_id) where document_id is null;
create index memories_past_versions on memories_past (bank_key, version_of) where version_of is not null;
create index memories_past_expiring on memories_past (bank_key, expires_at) where expires_at is not null;
create index memories_past_derived on memories_past (bank_key, memory_id) where kind = 'fact';

create table postings_past (like postings including all);
create table embeddings_past (like embeddings including all);

-- How many memories were removed, by when they had been retained: a rollback tells how many it cannot bring back.
create table removed_memories (
  bank_key text collate "C" not null,
  removed_at bigint not null,
  retained_at bigint not null,
  memories integer not null,
  primary key (bank_key, removed_at, retained_at)
);

-- Memories from which a language model has yet to derive facts (lib/operations/extraction.ts), noted in the transaction
-- that stores them. Who takes one moves not_before on, by which it is known that the job is still theirs at the end.
create table extraction_jobs (
  bank_key text collate "C" not null,
  memory_id uuid not null,
  -- Times it was taken.
  attempts integer not null,
  -- Nobody may take it before this instant.
  not_before bigint not null,
  primary key (bank_key, memory_id)
);

-- That a memory may take the place of an older one, and what was decided about it. It has no text of either.
create table proposals (
  bank_key text collate "C" not null,
  proposal_id uuid not null,
  memory_id uuid not null,
  may_supersede uuid not null,
  because text not null,
  created_at bigint not null,
  state text collate "C" not null,
  decided_at bigint,
  decided_by text,
  primary key (bank_key, proposal_id),
  unique (bank_key, memory_id, may_supersede)
);

-- Counts for BM25 and for totals, in a few rows a bank so that writers do not wait for each other's commit. A bank's
-- are summed.
create table bank_statistics (
  bank_key text collate "C" not null,
  shard smallint not null,
  memories bigint not null,
  embedded bigint not null,
  expiring bigint not null,
  passages bigint not null,
  length double precision not null,
  primary key (bank_key, shard)
) with (fillfactor = 50);

-- What a write locks that must be alone in its bank: an import, a replacement of documents, a removal of all memories.
-- The sweeper removes rows of banks without memories.
create table bank_locks (
  bank_key text collate "C" not null,
  primary key (bank_key)
);

create table idempotency_keys (
  bank_key text collate "C" not null,
  -- SHA-256 of the key with caller and operation, in hex.
  key text collate "C" not null,
  request_fingerprint text not null,
  answer text not null,
  kept_at bigint not null,
  primary key (bank_key, key)
);
create index idempotency_keys_by_age on idempotency_keys (bank_key, kept_at);

-- The configuration of banks, as their admins set it, with its history. It is kept apart from the memories and outlives
-- them; only the removal of the bank takes it away.

-- What is in force: one row a bank. A bank without a configuration of its own, or whose own was taken back, has none.
create table bank_configurations (
  bank_key text collate "C" not null,
  -- Of the change that set it. Revisions are given by the application, one after the other for all banks.
  revision bigint not null,
  document text not null,
  updated_at bigint not null,
  -- The principal; null for an anonymous caller.
  updated_by text,
  primary key (bank_key)
);

-- The newest changes of each bank, the one in force included.
create table bank_configuration_history (
  bank_key text collate "C" not null,
  revision bigint not null,
  -- Null where the configuration was taken back.
  document text,
  updated_at bigint not null,
  updated_by text,
  primary key (bank_key, revision)
);

-- Which bank each revision changed, for servers that keep configurations in memory. The one global table, whose key
-- does not begin with the bank: it is read in the order of the changes. Changes of more than a day ago are gone, but
-- the newest one stays, because the next revision follows from it.
create table bank_configuration_changes (
  bank_key text collate "C" not null,
  revision bigint not null,
  changed_at bigint not null,
  primary key (revision)
);

-- What banks have used of their daily quotas (lib/operations/admission.ts): one row a bank, UTC day and quota that is
-- set. The sweeper removes rows of past days.
create table daily_usage (
  bank_key text collate "C" not null,
  -- Days since the epoch.
  day integer not null,
  -- The quota's name in the configuration.
  counter text collate "C" not null,
  used bigint not null,
  primary key (bank_key, day, counter)
) with (fillfactor = 50);

-- The use of rate limits in a minute (lib/operations/rate-counts.ts): one row a bank, caller, limit and minute, which the
-- library rate-limiter-flexible counts up in one statement; the names of the columns and their order are its own. The
-- key begins with the bank's, and is the whole primary key, by which a cluster distributes the table. Unlogged: a count
-- waits for no disk and no standby, and after a crash the minute begins anew. The sweeper removes expired rows.
create unlogged table rate_limits (
  key text collate "C" not null,
  points bigint not null,
  -- Milliseconds since the epoch.
  expire bigint not null,
  primary key (key)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
