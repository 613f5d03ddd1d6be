-- An idempotency key belongs to its tenant, caller, method and path, whatever bank the work was on: its receipt is found by tenant and key.
--
-- The primary key stays, because servers of the last release name it in their inserts. One of them that meets a key that was used on another
-- bank is refused by the new index: it does no work and answers 503, where a server of this release answers 409. The lock lets nobody
-- add a key twice before the index is there; who only asks for receipts does not wait.
lock table idempotency_keys in share row exclusive mode;

-- Of one key on several banks the first answer counts, and before any the ones that are still in force.
delete from idempotency_keys k using (
  select o.tenant_id, o.bank_id, o.key, row_number() over (
    partition by o.tenant_id, o.key order by o.kept_at <= extract(epoch from now()) * 1000 - 86400000, o.kept_at, o.bank_id
  ) as place
  from idempotency_keys o
) d
where d.place > 1 and k.tenant_id = d.tenant_id and k.bank_id = d.bank_id and k.key = d.key;

create unique index idempotency_keys_by_key on idempotency_keys (tenant_id, key);
