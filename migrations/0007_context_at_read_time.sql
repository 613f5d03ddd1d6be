-- The context of a memory is put together by the search that finds it (lib/stores/context.ts), no longer by the write that stores it: the
-- index holds a passage's own words alone.
--
-- Servers of the last release go on beside it. They write `own` apart from `weight`, and lend words in rows whose `own` is 0: searches of this
-- release read `own` where it is there and pass over rows that were lent, and the sweeper removes those. What only they use, the columns
-- `own` and `own_terms`, goes with a later release.

-- What was lent leaves the index, and what stays is a passage's own. The table is filled anew: that takes less than removing most of its
-- rows one by one, and leaves no room behind that nothing fills.
create table postings_kept as
  select p.tenant_id, p.bank_id, p.term, p.memory_id, p.ordinal, coalesce(p.own, p.weight) as weight, p.length, p.expires_at
  from postings p where p.own is null or p.own > 0;
truncate postings;
alter table postings drop constraint postings_pkey;
insert into postings (tenant_id, bank_id, term, memory_id, ordinal, weight, length, expires_at)
  select k.tenant_id, k.bank_id, k.term, k.memory_id, k.ordinal, k.weight, k.length, k.expires_at
  from postings_kept k order by k.tenant_id, k.bank_id, k.term, k.memory_id, k.ordinal;
drop table postings_kept;
alter table postings add constraint postings_pkey primary key (tenant_id, bank_id, term, memory_id, ordinal) include (weight, own, length, expires_at);
-- What servers of the last release lend: nothing, as a rule.
create index postings_lent on postings (tenant_id, bank_id) where own = 0;

-- Memories of several passages take part too, so that they have to say whether they end in a question.
update memories set question = right(text, 600) ~ '[?？؟][^[:alnum:]]*$' where question is null and document_id is not null;
alter table memories
  -- Where a memory stands in its document, before the id, and the mean length of its passages. An index has columns for its searches to read
  -- from it alone, and no expressions.
  add column place bigint not null generated always as (coalesce(occurred_at, retained_at)) stored,
  add column passage_length double precision generated always as (passages_length / nullif(cardinality(passage_starts), 0)) stored;
-- A document in its order, for the neighbours of a place.
create index memories_in_document on memories (tenant_id, bank_id, document_id, place, memory_id) include (question, expires_at, passage_length)
  where document_id is not null;
-- The order of the last release, and what waited to be brought into context.
drop index memories_in_context;
drop index memories_out_of_context;

-- A plan that was made for these tables as they were fits no longer.
analyze postings;
analyze memories;
