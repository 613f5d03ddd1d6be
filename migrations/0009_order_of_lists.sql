-- Lists are ordered by time of retention and then by id, so the index contains both. All memories of an import may have
-- the same time, and every page of a list had to sort all of them.
create index memories_in_order on memories (tenant_id, bank_id, retained_at, memory_id) include (expires_at);
drop index memories_by_age;
