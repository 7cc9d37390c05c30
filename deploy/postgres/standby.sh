#!/bin/bash
# The entrypoint of the service `standby`, which replicates the service `database`. The first start copies the database.
# If the standby was stopped for longer than the primary keeps its log, remove its volume. The next start copies the
# database again.
set -euo pipefail

mkdir -p "$PGDATA"
chown postgres: "$PGDATA"
chmod 700 "$PGDATA"
as_postgres() { setpriv --reuid=postgres --regid=postgres --init-groups env HOME=/tmp "$@"; }

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  # Delete the files of an interrupted copy.
  find "$PGDATA" -mindepth 1 -delete
  as_postgres pg_basebackup --pgdata="$PGDATA" --checkpoint=fast --write-recovery-conf \
    --dbname='host=database user=replicator passfile=/run/passwords/replicator/pgpass'
fi
exec setpriv --reuid=postgres --regid=postgres --init-groups "$@"
