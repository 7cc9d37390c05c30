#!/bin/bash
# The entrypoint of the service `standby`, which follows the service `database`. The first start copies the database. If
# the standby was away for longer than the primary keeps its log, remove its volume: the next start copies again.
set -euo pipefail

mkdir -p "$PGDATA"
chown postgres: "$PGDATA"
chmod 700 "$PGDATA"
as_postgres() { setpriv --reuid=postgres --regid=postgres --init-groups env HOME=/tmp "$@"; }

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  # Remains of an interrupted copy.
  find "$PGDATA" -mindepth 1 -delete
  as_postgres pg_basebackup --pgdata="$PGDATA" --checkpoint=fast --write-recovery-conf \
    --dbname='host=database user=replicator passfile=/run/passwords/replicator/pgpass'
fi
exec setpriv --reuid=postgres --regid=postgres --init-groups "$@"
