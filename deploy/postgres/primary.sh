#!/bin/bash
# The entrypoint of the service `database`. The PostgreSQL image requires a password for the superuser at the first start.
# pg_hba.conf admits the superuser by the socket only, so the password is random and not stored.
set -euo pipefail

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  POSTGRES_PASSWORD=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
  export POSTGRES_PASSWORD
fi
exec docker-entrypoint.sh "$@"
