-- How far a memory may be believed: suspect, untrusted or trusted (lib/trust.ts).
--
-- Memories of before are trusted, and so are those that a server of the last release still writes. A constant default is kept once for
-- the table: no row is written anew, and nobody waits.
alter table memories add column trust text collate "C" not null default 'trusted';
