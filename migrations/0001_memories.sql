-- Memories, what search needs of them, and the answers kept for idempotency keys.
--
-- Rules of every table: (tenant_id, bank_id) leads each key and index, so that partitions, shards and poolers can carry the
-- same statements; '' is the tenant of callers who belong to none. Ids are made by the application. Instants are
-- milliseconds since the epoch, as the application has them. Text that is compared or sorted is compared by code
-- point, so that no locale changes an order or an index.

-- In a schema that every role's path has, where it is not there yet: statements name its types without one.
create extension if not exists vector with schema public;

-- Which embedding model a bank's vectors are of; a bank without vectors has no row. Searches and writes go by it, so that
-- a bank moves to another model in one update.
create table embedding_spaces (
  tenant_id text collate "C" not null,
  bank_id text collate "C" not null,
  model text collate "C" not null,
  dimensions integer not null,
  primary key (tenant_id, bank_id)
);

create table memories (
  tenant_id text collate "C" not null,
  bank_id text collate "C" not null,
  memory_id uuid not null,
  fingerprint text collate "C" not null,
  text text not null,
  tags text[] collate "C" not null,
  metadata jsonb not null,
  occurred_at bigint,
  retained_at bigint not null,
  expires_at bigint,
  document_id text,
  source text,
  tokens integer not null,
  -- UTF-16 offsets of the passages in the text, half-open; element n belongs to ordinal n - 1.
  passage_starts integer[] not null,
  passage_ends integer[] not null,
  -- Distinct index terms: where the memory's postings are.
  terms text[] collate "C" not null,
  -- The sum of the passages' lengths, which the bank's statistics lose with the memory.
  passages_length double precision not null,
  -- Whether its passages have vectors of the bank's model.
  embedded boolean not null,
  primary key (tenant_id, bank_id, memory_id),
  unique (tenant_id, bank_id, fingerprint)
);

-- Lists and exports run along it, and so does the list of banks. The id is no key here, or the planner would take this index for
-- one to look ids up in as long as it knows nothing of the table.
create index memories_by_age on memories (tenant_id, bank_id, retained_at) include (memory_id, expires_at);
create index memories_expiring on memories (tenant_id, bank_id, expires_at) where expires_at is not null;

-- The inverted index: one row for each term of each passage.
create table postings (
  tenant_id text collate "C" not null,
  bank_id text collate "C" not null,
  term text collate "C" not null,
  memory_id uuid not null,
  ordinal smallint not null,
  weight real not null,
  -- Length of the passage, for the normalisation of BM25.
  length real not null,
  expires_at bigint,
  -- What a score is made of is in the index, so that a search need not go to the table where vacuum has been.
  primary key (tenant_id, bank_id, term, memory_id, ordinal) include (weight, length, expires_at)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

create table embeddings (
  tenant_id text collate "C" not null,
  bank_id text collate "C" not null,
  model text collate "C" not null,
  memory_id uuid not null,
  ordinal smallint not null,
  dimensions integer not null,
  expires_at bigint,
  -- Of unit length, so that the range of half precision is never left.
  embedding halfvec not null,
  primary key (tenant_id, bank_id, memory_id, ordinal, model),
  check (vector_dims(embedding) = dimensions)
);
-- Inline as long as a page has room: an exact search reads every vector of a bank.
alter table embeddings alter column embedding set storage main;

-- Counts for BM25 and for totals, in a few rows a bank so that writers do not wait for each other's commit. A bank's are summed.
create table bank_statistics (
  tenant_id text collate "C" not null,
  bank_id text collate "C" not null,
  shard smallint not null,
  memories bigint not null,
  embedded bigint not null,
  expiring bigint not null,
  passages bigint not null,
  length double precision not null,
  primary key (tenant_id, bank_id, shard)
) with (fillfactor = 50);

create table idempotency_keys (
  tenant_id text collate "C" not null,
  bank_id text collate "C" not null,
  -- SHA-256 of the key with caller and operation, in hex.
  key text collate "C" not null,
  request_fingerprint text not null,
  answer text not null,
  kept_at bigint not null,
  primary key (tenant_id, bank_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (tenant_id, bank_id, kept_at);
