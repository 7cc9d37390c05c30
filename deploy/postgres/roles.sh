#!/bin/bash
# The entrypoint of the service `roles`, which Compose runs at each start. It generates missing passwords in
# /run/passwords. It creates the database, the role that owns it and the role of standbys, and sets the passwords of both
# roles. To renew a password, delete its file and start Compose again.
#
#   tidings/pgpass       for the server: libpq's password file
#   replicator/pgpass    for the standby: libpq's password file
#   grafana/password     for Grafana's user `admin`; only the first start of Grafana reads it
#
# Each folder belongs to the user of one service. Other users have no access.
set -euo pipefail

passwords=/run/passwords
umask 077

# keep FILE OWNER PREFIX: writes PREFIX and a random password to a file, unless the file exists.
keep() {
  local file=$passwords/$1 folder
  folder=$(dirname "$file")
  mkdir -p "$folder"
  if [ ! -s "$file" ]; then
    printf '%s%s\n' "$3" "$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')" >"$file.new"
    mv "$file.new" "$file"
    echo "roles: generated a password: ${file#"$passwords/"}"
  fi
  chown -R "$2" "$folder"
}

chmod 755 "$passwords"
keep tidings/pgpass 10001 '*:*:*:tidings:'
keep replicator/pgpass postgres '*:*:*:replicator:'
keep grafana/password 472 ''

psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username postgres --dbname postgres <<'SQL'
\set tidings `cut -d: -f5 /run/passwords/tidings/pgpass`
\set replicator `cut -d: -f5 /run/passwords/replicator/pgpass`
SELECT format('CREATE ROLE %I LOGIN', name) FROM (VALUES ('tidings'), ('replicator')) AS roles (name)
  WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) \gexec
ALTER ROLE tidings PASSWORD :'tidings';
ALTER ROLE replicator REPLICATION PASSWORD :'replicator';
SELECT 'CREATE DATABASE tidings OWNER tidings TEMPLATE template0 ENCODING ''UTF8'' LOCALE ''C.UTF-8'''
  WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'tidings') \gexec
SQL
