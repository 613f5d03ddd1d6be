-- The context of a memory: terms that its neighbours in the same document lend to it, at lower weight (lib/stores/context.ts).
--
-- Rows of before, and those that a server of the last release still writes, are without context: the memories have no own_terms
-- and take no part, and their postings have no own weight. lib/stores/sql/context-indexing.ts brings them into context, document by
-- document, with `npm run migrate`, at the start of a server that bootstraps, and with each sweep.

-- Compared and sorted now, so by code point like all such text. The table is not written anew for it.
alter table memories alter column document_id type text collate "C";

alter table memories
  -- What a memory that takes part lends: its terms and their weights, as JSON pairs. Null for one that does not.
  add column own_terms text,
  -- Whether its text ends in a question; null as own_terms is.
  add column question boolean;

-- How much of the weight is the passage's own: 0 for a term of neighbours alone. Null: all of it, as before.
alter table postings add column own real;
alter table postings drop constraint postings_pkey;
alter table postings add constraint postings_pkey primary key (tenant_id, bank_id, term, memory_id, ordinal) include (weight, own, length, expires_at);

-- A document in its order, for the neighbours of a place.
create index memories_in_context on memories (tenant_id, bank_id, document_id, coalesce(occurred_at, retained_at), memory_id) where own_terms is not null;
-- What is still to be brought into context: nothing, as a rule.
create index memories_out_of_context on memories (tenant_id, bank_id, document_id)
  where own_terms is null and document_id is not null and cardinality(passage_starts) = 1;
-- What waits for its vectors.
create index memories_unembedded on memories (tenant_id, bank_id, memory_id) where not embedded;
