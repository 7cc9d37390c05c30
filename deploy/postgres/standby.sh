#!/bin/bash
# A standby that follows the service `database`: copies it at the first start. If it was away for longer than the
# primary keeps its log, remove its volume, and it is copied again.
set -euo pipefail

mkdir -p "$PGDATA"
chown postgres: "$PGDATA"
chmod 700 "$PGDATA"
as_postgres() { setpriv --reuid=postgres --regid=postgres --init-groups env HOME=/tmp "$@"; }

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  # What a copy that was interrupted has left.
  find "$PGDATA" -mindepth 1 -delete
  export PGPASSWORD=$POSTGRES_PASSWORD
  as_postgres pg_basebackup --dbname='host=database user=replicator' --pgdata="$PGDATA" --checkpoint=fast \
    --write-recovery-conf
fi
exec setpriv --reuid=postgres --regid=postgres --init-groups postgres
