// Made by scripts/embed from migrations/0002_change_log.sql; do not edit.
// swift-format-ignore-file

let migration0002 = #"""
-- The log of changes, epochs, publish(), the check that each change was published, schedules, and the purge.
--
-- Only publish() writes versions.

------------------------------------------------------------------------------------------------------------------
-- The log
------------------------------------------------------------------------------------------------------------------

CREATE TABLE change_log (
  item uuid NOT NULL,
  scope text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  present boolean NOT NULL,
  reason text CHECK (reason IN ('retracted', 'expired', 'left')),
  date timestamptz NOT NULL,
  updated timestamptz NOT NULL,
  digest bytea NOT NULL,
  language text,
  author text,
  breaking boolean NOT NULL DEFAULT false,
  size integer,
  html_size integer,
  ordinal bigint,
  PRIMARY KEY (item, scope),
  CHECK (present = (reason IS NULL)),
  CONSTRAINT change_log_sizes CHECK (NOT present OR (size IS NOT NULL AND html_size IS NOT NULL))
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);

COMMENT ON TABLE change_log IS
  'One row for each scope and item: the last change of the item in the scope. A change of an item restamps its rows in
all its scopes with one version. The version and the time of the change are stored here and not in `items`, so that
publishing does not write the item a second time.

An index-only scan reads the table where it has not been vacuumed since the last change. Readers mostly read the
newest rows, so the log is vacuumed more often than by default.';
COMMENT ON COLUMN change_log.present IS 'Whether the item is in the scope. If not, the row is a tombstone.';
COMMENT ON COLUMN change_log.reason IS
  'The reason of a tombstone. `left` means that the item is published, but no longer in the scope.';
COMMENT ON COLUMN change_log.updated IS
  'The time of the change by the database clock. It increases with every change of the item.';
COMMENT ON COLUMN change_log.digest IS 'The digest of the published item.';
COMMENT ON COLUMN change_log.size IS
  'Upper bounds for the size of the published item as JSON in bytes, without `html`. Pages are cut, and their entity
tags computed, without reading an item. NULL in tombstones.';
COMMENT ON COLUMN change_log.html_size IS 'The same for `html` alone.';
COMMENT ON COLUMN change_log.ordinal IS
  'The number of the item''s first publication in the scope, from 1. It stays when the item leaves the scope and
returns before the tombstone is purged. Archives of feeds (RFC 5005) are divided by it.';

CREATE UNIQUE INDEX change_log_deltas ON change_log (scope, version)
  INCLUDE (item, present, reason, date, updated, digest, size, html_size);
COMMENT ON INDEX change_log_deltas IS 'For deltas and snapshots. It contains all that a page is made from.';

CREATE INDEX change_log_lists ON change_log (scope, date DESC, item DESC)
  INCLUDE (version, updated, digest, size, html_size) WHERE present;
COMMENT ON INDEX change_log_lists IS 'For lists. It contains all that a page is made from.';

CREATE INDEX change_log_breaking ON change_log (scope, date DESC, item DESC)
  INCLUDE (version, updated, digest, size, html_size) WHERE present AND breaking;

CREATE INDEX change_log_archives ON change_log (scope, ordinal) WHERE present;
COMMENT ON INDEX change_log_archives IS 'For archives of feeds.';

CREATE INDEX change_log_by_removal ON change_log (updated) WHERE NOT present;
COMMENT ON INDEX change_log_by_removal IS 'For the purge.';

CREATE TABLE gone_items (
  item uuid PRIMARY KEY,
  reason text NOT NULL
);

COMMENT ON TABLE gone_items IS
  'The items whose tombstones in the feed were purged. Their addresses are still answered with the reason.';

------------------------------------------------------------------------------------------------------------------
-- Epochs
------------------------------------------------------------------------------------------------------------------

CREATE TABLE epochs (
  number integer PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE CHECK (id ~ '^[0-9a-z]{6}$'),
  parent integer REFERENCES epochs (number) CHECK (parent = number - 1),
  starts_after bigint NOT NULL,
  system_identifier text NOT NULL,
  timeline text NOT NULL,
  database_oid bigint NOT NULL,
  counter_oid bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

COMMENT ON TABLE epochs IS
  'A chain of histories. Within one epoch a version identifies one state forever. After a restore, a promotion or a
clone the same versions may be given to other changes, so each of these begins a new epoch. Up to `starts_after` its
history is that of its parent.';
COMMENT ON COLUMN epochs.parent IS 'NULL for the first epoch, and where an operator cut the chain.';

CREATE FUNCTION database_identity(
  OUT system_identifier text, OUT timeline text, OUT database_oid bigint, OUT counter_oid bigint
) LANGUAGE plpgsql STABLE AS $$
BEGIN
  SELECT (SELECT c.system_identifier::text FROM pg_control_system() AS c),
      substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
      (SELECT d.oid::bigint FROM pg_database AS d WHERE d.datname = current_database()),
      'scopes'::regclass::oid::bigint
    INTO system_identifier, timeline, database_oid, counter_oid;
END
$$;

COMMENT ON FUNCTION database_identity IS
  'The values that differ between this database and a copy of it, and between its history before and after a restore.
The timeline is that of the current WAL file, because pg_control_checkpoint() lags behind a promotion.';

CREATE FUNCTION epoch_fits() RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
    SELECT (e.system_identifier, e.timeline, e.database_oid, e.counter_oid)
        = (i.system_identifier, i.timeline, i.database_oid, i.counter_oid)
      FROM (SELECT * FROM epochs ORDER BY number DESC LIMIT 1) AS e, database_identity() AS i
  );
END
$$;

COMMENT ON FUNCTION epoch_fits IS
  'Whether the latest epoch was begun in this database and in this part of its history.';

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

COMMENT ON FUNCTION begin_epoch IS
  'Begins a new epoch at the current counter and returns its id. `cut` ends the chain: all older tokens expire.';

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

COMMENT ON FUNCTION confirm_epoch IS
  'Returns the current epoch and counter. Begins a new epoch first if the history is no longer that of the latest
epoch. A caller that has seen a version of an epoch passes both: a counter below that version means that the history
was rewound.';

CREATE FUNCTION epoch_reach(token_epoch text) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN bool_or(later.number IS NOT NULL AND later.parent IS NULL) THEN NULL
      ELSE coalesce(min(later.starts_after), 9223372036854775807) END
  FROM epochs AS own LEFT JOIN epochs AS later ON later.number > own.number
  WHERE own.id = token_epoch
  GROUP BY own.number
$$;

COMMENT ON FUNCTION epoch_reach IS
  'The highest version up to which the history of an epoch is part of the current one: the largest bigint for the
current epoch, NULL for an epoch that is unknown or cut off.';

SELECT begin_epoch();

------------------------------------------------------------------------------------------------------------------
-- Publishing
------------------------------------------------------------------------------------------------------------------

-- publish(), require_publication(), purge_log() and apply_schedule() have planner settings of their own. A session
-- keeps their plans. A plan made while the tables were small would later read the whole log for each item. All of
-- them look up a few rows by key, so the settings leave only such plans, and one plan suffices for a session.

CREATE TABLE outbox (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  version bigint NOT NULL,
  at timestamptz NOT NULL,
  items uuid[] NOT NULL,
  versions bigint[] NOT NULL,
  kinds text[] NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

COMMENT ON TABLE outbox IS
  'The changes that are not yet turned into pushes and deliveries. The rows live for a moment. There is no index but
the key, so that the table costs a publication as little as possible.';
COMMENT ON COLUMN outbox.version IS 'The last of `versions`.';
COMMENT ON COLUMN outbox.items IS
  'The items with their versions and the kinds of their changes, in the order of versions.';
COMMENT ON COLUMN outbox.kinds IS
  '`published`: was not in the feed, and is. `changed`: was and is. `retracted`: is no longer, also if it was
withdrawn. `expired`. `alert`: an alert is requested, and the item has not changed.';

CREATE FUNCTION publish(ids uuid[])
RETURNS TABLE (item uuid, version bigint, updated timestamptz, changed boolean) LANGUAGE plpgsql
SET plan_cache_mode = 'force_generic_plan' SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_material = off AS $$
#variable_conflict use_column
DECLARE
  base bigint;
  moment timestamptz;
  unknown text;
  stamped uuid[];
  kinds text[];
  is_logged boolean;
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

  SELECT array_agg(i.id ORDER BY i.date, i.id),
      array_agg(CASE WHEN i.state = 'published' AND l.present THEN 'changed' WHEN i.state = 'published' THEN 'published'
        WHEN i.state = 'expired' THEN 'expired' ELSE 'retracted' END ORDER BY i.date, i.id),
      bool_or(EXISTS (SELECT FROM change_log WHERE change_log.item = i.id))
    INTO stamped, kinds, is_logged
    FROM items AS i LEFT JOIN change_log AS l ON l.item = i.id AND l.scope = ''
    WHERE i.id = ANY (ids)
      AND CASE WHEN i.state = 'published' THEN l.present IS NOT TRUE OR l.digest <> i.digest
        ELSE l.present IS TRUE END;

  IF stamped IS NOT NULL THEN
    SELECT t.slug INTO unknown
      -- OFFSET keeps the planner from reading all published items by an index on the state.
      FROM (SELECT * FROM items WHERE id = ANY (stamped) OFFSET 0) AS i, unnest(i.topics) AS t (slug)
      WHERE i.state = 'published'
        AND NOT EXISTS (SELECT 1 FROM topics WHERE topics.slug = t.slug)
      LIMIT 1;
    IF FOUND THEN
      RAISE EXCEPTION 'unknown topic' USING ERRCODE = 'TD003', DETAIL = unknown;
    END IF;
  END IF;

  IF stamped IS NOT NULL AND NOT is_logged THEN
    -- All of them are published for the first time.
    WITH put AS (
      INSERT INTO change_log AS l (
          item, scope, version, present, date, updated, digest, language, author, breaking, size, html_size, ordinal)
        SELECT i.id, s.scope, base + o.n, true, i.date, moment, i.digest, i.language, i.author, i.breaking, i.size,
          json_size(i.html), p.published + row_number() OVER (PARTITION BY s.scope ORDER BY o.n)
        FROM unnest(stamped) WITH ORDINALITY AS o (id, n)
          JOIN items AS i ON i.id = o.id
          CROSS JOIN LATERAL (SELECT DISTINCT unnest(array_prepend(''::text, i.topics))) AS s (scope)
          JOIN scopes AS p ON p.scope = s.scope
        RETURNING l.scope, l.version
    ), total AS (
      SELECT scope, max(version) AS version, count(*) AS added FROM put GROUP BY scope
    )
    UPDATE scopes AS s
      SET version = t.version, items = s.items + t.added, published = s.published + t.added,
        changed_at = greatest(s.changed_at, moment)
      FROM total AS t WHERE s.scope = t.scope;
  ELSIF stamped IS NOT NULL THEN
    WITH change AS (
      SELECT i.id, i.state, i.topics, i.date, i.digest, i.language, i.author, i.breaking, i.size, base + o.n AS version,
        CASE i.state WHEN 'published' THEN json_size(i.html) END AS html_size,
        greatest(moment, l.updated + interval '1 millisecond') AS updated,
        l.present IS TRUE
          AND (l.date, l.language, l.author, l.breaking)
            IS DISTINCT FROM (i.date, i.language, i.author, i.breaking) AS shifted
      FROM unnest(stamped) WITH ORDINALITY AS o (id, n)
        JOIN items AS i ON i.id = o.id
        LEFT JOIN change_log AS l ON l.item = i.id AND l.scope = ''
    ), wanted AS (
      SELECT c.id, s.scope, c.version, c.date, c.updated, c.digest, c.language, c.author, c.breaking, c.size,
        c.html_size, c.shifted, old.present IS TRUE AS was_present,
        old.ordinal IS NULL AND old.present IS NOT TRUE AS is_new
      FROM change AS c
        CROSS JOIN LATERAL (SELECT DISTINCT unnest(array_prepend(''::text, c.topics))) AS s (scope)
        LEFT JOIN LATERAL (
          -- OFFSET keeps both conditions together, for a lookup by key.
          SELECT present, ordinal FROM change_log
            WHERE change_log.item = c.id AND change_log.scope = s.scope OFFSET 0
        ) AS old ON true
      WHERE c.state = 'published'
    ), gone AS (
      UPDATE change_log AS l
        SET version = c.version, present = false, updated = c.updated,
          reason = CASE c.state WHEN 'published' THEN 'left' WHEN 'expired' THEN 'expired' ELSE 'retracted' END
        FROM change AS c
        -- A plain `l.present` would admit the index for lists, in which the item is the last column.
        WHERE l.item = c.id AND l.present IS NOT FALSE
          AND NOT (c.state = 'published' AND (l.scope = '' OR l.scope = ANY (c.topics)))
        RETURNING l.scope, l.version
    ), put AS (
      INSERT INTO change_log AS l (
          item, scope, version, present, date, updated, digest, language, author, breaking, size, html_size, ordinal)
        SELECT w.id, w.scope, w.version, true, w.date, w.updated, w.digest, w.language, w.author, w.breaking, w.size,
          w.html_size,
          CASE WHEN w.is_new
            THEN p.published + row_number() OVER (PARTITION BY w.scope, w.is_new ORDER BY w.version) END
        FROM wanted AS w JOIN scopes AS p ON p.scope = w.scope
        ON CONFLICT (item, scope) DO UPDATE SET version = excluded.version, present = true, reason = NULL,
          date = excluded.date, updated = excluded.updated, digest = excluded.digest,
          language = excluded.language, author = excluded.author, breaking = excluded.breaking,
          size = excluded.size, html_size = excluded.html_size, ordinal = coalesce(l.ordinal, excluded.ordinal)
    ), touched AS (
      SELECT scope, version, shifted, CASE WHEN was_present THEN 0 ELSE 1 END AS added,
        CASE WHEN is_new THEN 1 ELSE 0 END AS numbered FROM wanted
      UNION ALL
      SELECT scope, version, true, -1, 0 FROM gone
    ), total AS (
      SELECT scope, max(version) AS version, bool_or(shifted) AS shifted, sum(added) AS added, sum(numbered) AS numbered
        FROM touched GROUP BY scope
    )
    UPDATE scopes AS s
      SET version = t.version, items = s.items + t.added, published = s.published + t.numbered,
        changed_at = greatest(s.changed_at, moment),
        shifted_at = CASE WHEN t.shifted THEN greatest(s.shifted_at, moment) ELSE s.shifted_at END
      FROM total AS t WHERE s.scope = t.scope;
  END IF;

  IF stamped IS NOT NULL THEN
    INSERT INTO outbox (version, at, items, versions, kinds)
      VALUES (base + cardinality(stamped), moment, stamped,
        ARRAY(SELECT base + n FROM generate_series(1, cardinality(stamped)) AS g (n) ORDER BY n), kinds);
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

COMMENT ON FUNCTION publish IS
  'Publishes the current state of the given items: stamps the log and the scopes with new versions, and notifies. It
is called last in a transaction, with the COMMIT right behind, because all other publishers wait for the counter
meanwhile. The outbox receives one row, whatever the number of items.

Returns a row for each given item that was ever in the feed, with its version, and whether this call changed it. An
item whose public columns are unchanged receives no new version.

READ COMMITTED is required: a snapshot from before the counter was locked could miss the work of the previous
publisher.';

CREATE FUNCTION require_publication() RETURNS trigger LANGUAGE plpgsql
SET plan_cache_mode = 'force_generic_plan' SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
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

COMMENT ON FUNCTION require_publication IS
  'Refuses a commit after which the public columns of an item differ from what the log says was published. No version
would name such a change, and clients would miss it. The trigger is deferred and reads the rows as they are at the
commit, so one publish() may follow any number of writes.';

CREATE CONSTRAINT TRIGGER items_inserted_unpublished AFTER INSERT ON items DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW.state = 'published') EXECUTE FUNCTION require_publication();
CREATE CONSTRAINT TRIGGER items_updated_unpublished AFTER UPDATE ON items DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW
  WHEN (OLD.id <> NEW.id OR OLD.state <> NEW.state OR (OLD.digest <> NEW.digest AND NEW.state = 'published'))
  EXECUTE FUNCTION require_publication();
CREATE CONSTRAINT TRIGGER items_deleted_unpublished AFTER DELETE ON items DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION require_publication();

------------------------------------------------------------------------------------------------------------------
-- Schedules
------------------------------------------------------------------------------------------------------------------

CREATE FUNCTION has_unknown_topic(slugs text[]) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM unnest(slugs) AS s (slug) WHERE NOT EXISTS (SELECT FROM topics AS t WHERE t.slug = s.slug)
  );
END
$$;

COMMENT ON FUNCTION has_unknown_topic IS 'Whether one of the topics does not exist.';

CREATE FUNCTION apply_schedule(
  most integer DEFAULT 100, selected uuid[] DEFAULT NULL,
  OUT changed integer, OUT stuck integer, OUT next_due timestamptz
) LANGUAGE plpgsql
SET plan_cache_mode = 'force_generic_plan' SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_material = off AS $$
DECLARE
  moment timestamptz := clock_timestamp();
  opened uuid[];
  ended uuid[];
BEGIN
  changed := 0;
  stuck := 0;
  -- The key is arbitrary. It only has to be the same in all processes.
  IF pg_try_advisory_xact_lock(7161720914259) THEN
    SELECT array_agg(d.id) INTO opened FROM (
      SELECT i.id FROM items AS i
        WHERE i.state = 'scheduled' AND i.publish_at <= moment AND NOT has_unknown_topic(i.topics)
          AND (selected IS NULL OR i.id = ANY (selected))
        ORDER BY i.publish_at LIMIT most FOR NO KEY UPDATE SKIP LOCKED
    ) AS d;
    SELECT array_agg(d.id) INTO ended FROM (
      SELECT i.id FROM items AS i
        WHERE i.state = 'published' AND i.expire_at <= moment AND (selected IS NULL OR i.id = ANY (selected))
        ORDER BY i.expire_at LIMIT most FOR NO KEY UPDATE SKIP LOCKED
    ) AS d;
    IF opened IS NOT NULL THEN
      UPDATE items AS i
        SET state = CASE WHEN i.expire_at <= moment THEN 'expired' ELSE 'published' END,
          date = CASE WHEN i.has_date THEN i.date ELSE date_trunc('milliseconds', moment) END,
          has_date = true, editor = 'schedule', editor_revision = i.revision + 1
        WHERE i.id = ANY (opened);
    END IF;
    IF ended IS NOT NULL THEN
      UPDATE items AS i SET state = 'expired', editor = 'schedule', editor_revision = i.revision + 1
        WHERE i.id = ANY (ended);
    END IF;
    IF opened IS NOT NULL OR ended IS NOT NULL THEN
      changed := cardinality(coalesce(opened, '{}') || coalesce(ended, '{}'));
      PERFORM count(*) FROM publish(coalesce(opened, '{}') || coalesce(ended, '{}'));
    END IF;
    SELECT count(*) INTO stuck FROM (
      SELECT FROM items AS i WHERE i.state = 'scheduled' AND i.publish_at <= moment AND has_unknown_topic(i.topics)
        LIMIT 1000
    ) AS s;
  END IF;
  next_due := least(
    (SELECT i.publish_at FROM items AS i WHERE i.state = 'scheduled' AND i.publish_at > moment
      ORDER BY i.publish_at LIMIT 1),
    (SELECT i.expire_at FROM items AS i WHERE i.state = 'published' AND i.expire_at > moment
      ORDER BY i.expire_at LIMIT 1));
END
$$;

COMMENT ON FUNCTION apply_schedule IS
  'Publishes scheduled items whose time has come, and ends published ones that expire, at most `most` of each. An item
whose whole time has passed meanwhile expires without a publication. Items that a transaction holds are left to the
next call. So is everything while another session runs this function: any process may call it, and the clock of the
database decides.

An item with an unknown topic cannot be published. It is left as it is and counted in `stuck`. `selected` restricts
the call to some items, for a caller that has found one of several to fail.

Returns the number of changed items, and the time of the next one that is due; NULL if none is.';

------------------------------------------------------------------------------------------------------------------
-- Purging
------------------------------------------------------------------------------------------------------------------

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

COMMENT ON FUNCTION purge_log IS
  'Deletes the oldest tombstones beyond an age, 1 to `most` of them, so that publishers wait only briefly. Raises the
purge floors of their scopes: clients with older tokens take the snapshot. Returns the number of deleted tombstones; 0
means that none is left.';

"""#
