-- Memories without a document have context too (lib/stores/context.ts): the memories of the same day before and after
-- them.
--
-- Servers of the last release give such memories no context; nothing else differs for them.

-- They have to say whether they end in a question. Memories since 0007 do.
update memories set question = right(text, 600) ~ '[?？؟][^[:alnum:]]*$' where question is null;
-- Their order, for the neighbours of a place.
create index memories_without_document on memories (tenant_id, bank_id, place, memory_id) include (question, expires_at, passage_length)
  where document_id is null;
analyze memories;
