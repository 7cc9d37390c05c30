#!/bin/bash
# Run by the image of PostgreSQL at its first start: a role that owns the database and nothing else, and one for
# standbys. Both have the password of the superuser.
set -euo pipefail

psql --no-psqlrc --set ON_ERROR_STOP=1 --set password="$POSTGRES_PASSWORD" --username "${POSTGRES_USER:-postgres}" \
  --dbname postgres <<'SQL'
CREATE ROLE tidings LOGIN PASSWORD :'password';
CREATE ROLE replicator LOGIN REPLICATION PASSWORD :'password';
CREATE DATABASE tidings OWNER tidings TEMPLATE template0 ENCODING 'UTF8';
SQL
echo 'host replication replicator all scram-sha-256' >>"$PGDATA/pg_hba.conf"
