-- A question that names only a time lists the memories that occurred in a period, and those without such a time that
-- were retained in it. Both lists read an index of their own, in which each memory has one entry: without them, they
-- read all memories of the bank, or all that were retained in the period.
create index memories_dated on memories (tenant_id, bank_id, occurred_at) where occurred_at is not null;
create index memories_undated on memories (tenant_id, bank_id, retained_at, memory_id) where occurred_at is null;
