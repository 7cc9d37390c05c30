// Made by scripts/embed from migrations/0002_change_log.sql; do not edit.
// swift-format-ignore-file

let migration0002 = #"""
-- The log of changes, epochs, publish(), the check that each change was published, and the purge.
--
-- Only publish() writes versions.

------------------------------------------------------------------------------------------------------------------
-- The log
------------------------------------------------------------------------------------------------------------------

-- One row for each scope and item: the last change of the item in the scope. A change of an item restamps its rows in
-- all its scopes with one version. The version and the time of the change are stored here and not in `items`, so that
-- publishing does not write the item a second time.
CREATE TABLE change_log (
  item uuid NOT NULL,
  scope text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  -- Whether the item is in the scope. If not, the row is a tombstone.
  present boolean NOT NULL,
  -- The reason of a tombstone. `left` means that the item is published, but no longer in the scope.
  reason text CHECK (reason IN ('retracted', 'expired', 'left')),
  date timestamptz NOT NULL,
  -- The time of the change by the database clock. It increases with every change of the item.
  updated timestamptz NOT NULL,
  -- The published state: the item's digest, and the fields by which lists filter.
  digest bytea NOT NULL,
  language text,
  author text,
  PRIMARY KEY (item, scope),
  CHECK (present = (reason IS NULL))
);

-- For deltas.
CREATE UNIQUE INDEX change_log_by_version ON change_log (scope, version);
-- For lists.
CREATE INDEX change_log_by_date ON change_log (scope, date DESC, item DESC) WHERE present;
-- For the purge.
CREATE INDEX change_log_by_removal ON change_log (updated) WHERE NOT present;

-- The items whose tombstones in the feed were purged. Their addresses are still answered with the reason.
CREATE TABLE gone_items (
  item uuid PRIMARY KEY,
  reason text NOT NULL
);

------------------------------------------------------------------------------------------------------------------
-- Epochs
------------------------------------------------------------------------------------------------------------------

-- A chain of histories. Within one epoch a version identifies one state forever. After a restore, a promotion or a
-- clone the same versions may be given to other changes, so each of these begins a new epoch. Up to `starts_after` its
-- history is that of its parent.
CREATE TABLE epochs (
  number integer PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE CHECK (id ~ '^[0-9a-z]{6}$'),
  -- NULL for the first epoch, and where an operator cut the chain.
  parent integer REFERENCES epochs (number) CHECK (parent = number - 1),
  starts_after bigint NOT NULL,
  system_identifier text NOT NULL,
  timeline text NOT NULL,
  database_oid bigint NOT NULL,
  counter_oid bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The values that differ between this database and a copy of it, and between its history before and after a restore.
-- The timeline is that of the current WAL file, because pg_control_checkpoint() lags behind a promotion.
CREATE FUNCTION database_identity(
  OUT system_identifier text, OUT timeline text, OUT database_oid bigint, OUT counter_oid bigint
) LANGUAGE sql STABLE AS $$
  SELECT (SELECT c.system_identifier::text FROM pg_control_system() AS c),
    substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
    (SELECT d.oid::bigint FROM pg_database AS d WHERE d.datname = current_database()),
    'scopes'::regclass::oid::bigint
$$;

-- Whether the latest epoch was begun in this database and in this part of its history.
CREATE FUNCTION epoch_fits() RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT (e.system_identifier, e.timeline, e.database_oid, e.counter_oid)
      = (i.system_identifier, i.timeline, i.database_oid, i.counter_oid)
    FROM (SELECT * FROM epochs ORDER BY number DESC LIMIT 1) AS e, database_identity() AS i
$$;

-- Begins a new epoch at the current counter and returns its id. `cut` ends the chain: all older tokens expire.
CREATE FUNCTION begin_epoch(cut boolean DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  counter bigint;
  latest integer;
  chosen text;
BEGIN
  SELECT version INTO STRICT counter FROM scopes WHERE scope = '' FOR UPDATE;
  SELECT max(number) INTO latest FROM epochs;
  SELECT string_agg(substr('0123456789abcdefghijklmnopqrstuvwxyz', 1 + get_byte(bytes, n) % 36, 1), '')
    INTO chosen
    FROM (SELECT sha256(uuid_send(gen_random_uuid())) AS bytes) AS random, generate_series(0, 5) AS n;
  INSERT INTO epochs (number, id, parent, starts_after, system_identifier, timeline, database_oid, counter_oid)
    SELECT coalesce(latest, 0) + 1, chosen, CASE WHEN NOT cut THEN latest END, counter, identity.*
    FROM database_identity() AS identity;
  RETURN chosen;
END
$$;

-- Returns the current epoch and counter. Begins a new epoch first if the history is no longer that of the latest epoch.
-- A caller that has seen a version of an epoch passes both: a counter below that version means that the history was
-- rewound.
CREATE FUNCTION confirm_epoch(
  seen_epoch text DEFAULT NULL, seen_version bigint DEFAULT 0, OUT epoch text, OUT version bigint
) LANGUAGE plpgsql AS $$
DECLARE
  fits boolean;
BEGIN
  FOR attempt IN 1..2 LOOP
    -- A single statement, so that the epoch and the counter come from one snapshot.
    SELECT e.id, s.version, epoch_fits() AND NOT (e.id = coalesce(seen_epoch, '') AND s.version < seen_version)
      INTO epoch, version, fits
      FROM (SELECT * FROM epochs ORDER BY number DESC LIMIT 1) AS e, scopes AS s
      WHERE s.scope = '';
    EXIT WHEN fits OR attempt = 2;
    -- Another connection may be about to begin the epoch, so the check is repeated with the counter locked.
    PERFORM 1 FROM scopes AS s WHERE s.scope = '' FOR UPDATE;
    PERFORM 1 FROM (SELECT * FROM epochs ORDER BY number DESC LIMIT 1) AS e, scopes AS s
      WHERE s.scope = '' AND epoch_fits() AND NOT (e.id = coalesce(seen_epoch, '') AND s.version < seen_version);
    IF NOT FOUND THEN
      PERFORM begin_epoch();
    END IF;
  END LOOP;
END
$$;

-- The highest version up to which the history of an epoch is part of the current one: the largest bigint for the
-- current epoch, NULL for an epoch that is unknown or cut off.
CREATE FUNCTION epoch_reach(token_epoch text) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN bool_or(later.number IS NOT NULL AND later.parent IS NULL) THEN NULL
      ELSE coalesce(min(later.starts_after), 9223372036854775807) END
  FROM epochs AS own LEFT JOIN epochs AS later ON later.number > own.number
  WHERE own.id = token_epoch
  GROUP BY own.number
$$;

SELECT begin_epoch();

------------------------------------------------------------------------------------------------------------------
-- Publishing
------------------------------------------------------------------------------------------------------------------

-- publish(), require_publication() and purge_log() have planner settings of their own. A session keeps their plans. A
-- plan made while the tables were small would later read the whole log for each item. All of them look up a few rows by
-- primary key, so the settings leave only such plans. `plan_cache_mode` keeps an import, which replans its own
-- statements, from replanning these for each of its items.

-- Publishes the current state of the given items: stamps the log and the scopes with new versions, and notifies. It is
-- called last in a transaction, with the COMMIT right behind, because all other publishers wait for the counter
-- meanwhile.
--
-- Returns a row for each given item that was ever in the feed, with its version, and whether this call changed it. An
-- item whose public columns are unchanged receives no new version.
--
-- READ COMMITTED is required: a snapshot from before the counter was locked could miss the work of the previous
-- publisher.
CREATE FUNCTION publish(ids uuid[])
RETURNS TABLE (item uuid, version bigint, updated timestamptz, changed boolean) LANGUAGE plpgsql
SET plan_cache_mode = 'auto' SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_material = off AS $$
#variable_conflict use_column
DECLARE
  base bigint;
  moment timestamptz;
  unknown text;
  stamped uuid[];
BEGIN
  IF cardinality(ids) > 1000 THEN
    RAISE EXCEPTION 'publish() takes at most 1000 items, not %', cardinality(ids) USING ERRCODE = 'TD001';
  END IF;
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'publish() needs READ COMMITTED' USING ERRCODE = 'TD002';
  END IF;
  PERFORM 1 FROM items WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
  SELECT s.version INTO STRICT base FROM scopes AS s WHERE s.scope = '' FOR UPDATE;
  -- Plain SQL may be the first to write to a clone or a restored database. Its versions belong to a new epoch.
  IF NOT epoch_fits() THEN
    PERFORM begin_epoch();
  END IF;
  moment := date_trunc('milliseconds', clock_timestamp());

  SELECT array_agg(i.id ORDER BY i.date, i.id) INTO stamped
    FROM items AS i LEFT JOIN change_log AS l ON l.item = i.id AND l.scope = ''
    WHERE i.id = ANY (ids)
      AND CASE WHEN i.state = 'published' THEN l.present IS NOT TRUE OR l.digest <> i.digest
        ELSE l.present IS TRUE END;

  IF stamped IS NOT NULL THEN
    SELECT t.slug INTO unknown
      FROM items AS i, unnest(i.topics) AS t (slug)
      WHERE i.id = ANY (stamped) AND i.state = 'published'
        AND NOT EXISTS (SELECT 1 FROM topics WHERE topics.slug = t.slug)
      LIMIT 1;
    IF FOUND THEN
      RAISE EXCEPTION 'unknown topic' USING ERRCODE = 'TD003', DETAIL = unknown;
    END IF;

    WITH change AS (
      SELECT i.id, i.state, i.topics, i.date, i.digest, i.language, i.author, base + o.n AS version,
        greatest(moment, l.updated + interval '1 millisecond') AS updated,
        l.present IS TRUE
          AND (l.date, l.language, l.author) IS DISTINCT FROM (i.date, i.language, i.author) AS shifted
      FROM unnest(stamped) WITH ORDINALITY AS o (id, n)
        JOIN items AS i ON i.id = o.id
        LEFT JOIN change_log AS l ON l.item = i.id AND l.scope = ''
    ), wanted AS (
      SELECT c.id, s.scope, c.version, c.date, c.updated, c.digest, c.language, c.author, c.shifted,
        old.present IS TRUE AS was_present
      FROM change AS c
        CROSS JOIN LATERAL (SELECT DISTINCT unnest(array_prepend(''::text, c.topics))) AS s (scope)
        LEFT JOIN change_log AS old ON old.item = c.id AND old.scope = s.scope
      WHERE c.state = 'published'
    ), gone AS (
      UPDATE change_log AS l
        SET version = c.version, present = false, updated = c.updated,
          reason = CASE c.state WHEN 'published' THEN 'left' WHEN 'expired' THEN 'expired' ELSE 'retracted' END
        FROM change AS c
        WHERE l.item = c.id AND l.present
          AND NOT (c.state = 'published' AND (l.scope = '' OR l.scope = ANY (c.topics)))
        RETURNING l.scope, l.version
    ), put AS (
      INSERT INTO change_log AS l (item, scope, version, present, date, updated, digest, language, author)
        SELECT id, scope, version, true, date, updated, digest, language, author FROM wanted
        ON CONFLICT (item, scope) DO UPDATE SET version = excluded.version, present = true, reason = NULL,
          date = excluded.date, updated = excluded.updated, digest = excluded.digest,
          language = excluded.language, author = excluded.author
    ), touched AS (
      SELECT scope, version, shifted, CASE WHEN was_present THEN 0 ELSE 1 END AS added FROM wanted
      UNION ALL
      SELECT scope, version, true, -1 FROM gone
    ), total AS (
      SELECT scope, max(version) AS version, bool_or(shifted) AS shifted, sum(added) AS added
        FROM touched GROUP BY scope
    )
    UPDATE scopes AS s
      SET version = t.version, items = s.items + t.added, changed_at = greatest(s.changed_at, moment),
        shifted_at = CASE WHEN t.shifted THEN greatest(s.shifted_at, moment) ELSE s.shifted_at END
      FROM total AS t WHERE s.scope = t.scope;

    PERFORM pg_notify('tidings',
      (SELECT e.id FROM epochs AS e ORDER BY e.number DESC LIMIT 1) || ' ' || base + cardinality(stamped));
  END IF;

  RETURN QUERY SELECT l.item, l.version, l.updated, l.version > base
    FROM (SELECT DISTINCT unnest(ids)) AS o (id) CROSS JOIN LATERAL (
      -- OFFSET keeps the planner from reordering the join: the log is looked up for each id.
      SELECT * FROM change_log WHERE change_log.item = o.id AND change_log.scope = '' OFFSET 0
    ) AS l;
END
$$;

-- Refuses a commit after which the public columns of an item differ from what the log says was published. No version
-- would name such a change, and clients would miss it. The trigger is deferred and reads the rows as they are at the
-- commit, so one publish() may follow any number of writes.
CREATE FUNCTION require_publication() RETURNS trigger LANGUAGE plpgsql
SET plan_cache_mode = 'auto' SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_material = off AS $$
DECLARE
  touched uuid := CASE TG_OP WHEN 'DELETE' THEN OLD.id ELSE NEW.id END;
BEGIN
  IF EXISTS (
    SELECT 1
      FROM (SELECT touched AS id) AS t
        LEFT JOIN items AS i ON i.id = t.id
        LEFT JOIN change_log AS l ON l.item = t.id AND l.scope = ''
      WHERE (i.state IS NOT DISTINCT FROM 'published') <> (l.present IS TRUE)
        OR (l.present AND l.digest IS DISTINCT FROM i.digest)
  ) THEN
    RAISE EXCEPTION 'public columns were changed without publish()'
      USING ERRCODE = 'TD004', DETAIL = 'item ' || touched, HINT = 'Call publish(ARRAY[id]) before the COMMIT.';
  END IF;
  RETURN NULL;
END
$$;

CREATE CONSTRAINT TRIGGER items_inserted_unpublished AFTER INSERT ON items DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW.state = 'published') EXECUTE FUNCTION require_publication();
CREATE CONSTRAINT TRIGGER items_updated_unpublished AFTER UPDATE ON items DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW
  WHEN (OLD.id <> NEW.id OR OLD.state <> NEW.state OR (OLD.digest <> NEW.digest AND NEW.state = 'published'))
  EXECUTE FUNCTION require_publication();
CREATE CONSTRAINT TRIGGER items_deleted_unpublished AFTER DELETE ON items DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION require_publication();

------------------------------------------------------------------------------------------------------------------
-- Purging
------------------------------------------------------------------------------------------------------------------

-- Deletes the oldest tombstones beyond an age, 1 to `most` of them, so that publishers wait only briefly. Raises the
-- purge floors of their scopes: clients with older tokens take the snapshot. Returns the number of deleted tombstones;
-- 0 means that none is left.
CREATE FUNCTION purge_log(age interval, most integer DEFAULT 500) RETURNS integer LANGUAGE plpgsql
SET plan_cache_mode = 'auto' SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_material = off AS $$
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
