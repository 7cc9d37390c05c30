// Made by scripts/embed from migrations/0005_purge.sql; do not edit.
// swift-format-ignore-file

let migration0005 = #"""
-- Tombstones are kept for as long as clients may be away. Later the log forgets them, and with them how to bring up to
-- date whoever was away for longer: the floor of a scope says from which version on nothing is missing.

-- What the log has forgotten of the feed: an address that once was an item's is still known to be gone, and why.
CREATE TABLE gone_items (
  item uuid PRIMARY KEY,
  reason text NOT NULL
);

CREATE INDEX change_log_by_removal ON change_log (updated) WHERE NOT present;

-- Forgets the oldest removals that are older than an age, 1 to `most` of them, so that publishers wait only briefly.
-- Returns how many it has forgotten: 0 means that none is left.
CREATE FUNCTION purge_log(age interval, most integer DEFAULT 500) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  forgotten integer;
BEGIN
  IF NOT EXISTS (SELECT 1 FROM change_log WHERE NOT present AND updated < clock_timestamp() - age) THEN
    RETURN 0;
  END IF;
  PERFORM 1 FROM scopes WHERE scope = '' FOR UPDATE;
  WITH old AS (
    SELECT l.item, l.scope FROM change_log AS l
      WHERE NOT l.present AND l.updated < clock_timestamp() - age
      ORDER BY l.updated LIMIT most
  ), gone AS (
    DELETE FROM change_log AS l USING old WHERE l.item = old.item AND l.scope = old.scope AND NOT l.present
      RETURNING l.item, l.scope, l.version, l.reason
  ), kept AS (
    INSERT INTO gone_items (item, reason) SELECT item, reason FROM gone WHERE scope = ''
      ON CONFLICT (item) DO UPDATE SET reason = excluded.reason
  ), raised AS (
    UPDATE scopes AS s SET floor = greatest(s.floor, g.version)
      FROM (SELECT scope, max(version) AS version FROM gone GROUP BY scope) AS g WHERE s.scope = g.scope
  )
  SELECT count(*) INTO forgotten FROM gone;
  PERFORM pg_notify('tidings', 'floors');
  RETURN forgotten;
END
$$;

"""#
