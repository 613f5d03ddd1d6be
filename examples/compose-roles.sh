#!/bin/sh
# compose.yaml uses this script to create the role of the gateway. It may read and write the tables that the owner's
# migrations create, but it may not change the schema.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$(cat /run/secrets/server_password)" -U "$POSTGRES_USER" -d "$POSTGRES_DB" <<'SQL'
create role memory_server login password :'password';
alter default privileges grant usage on schemas to memory_server;
alter default privileges grant select, insert, update, delete on tables to memory_server;
SQL
