-- The outbox, in which a publication leaves one row however many devices there are, and the pushes that are made from it
-- afterwards.

-- The changes that are not yet turned into pushes and deliveries. The rows live for a moment. There is no index but the
-- key, so that the table costs a publication as little as possible.
CREATE TABLE outbox (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- The last of `versions`.
  version bigint NOT NULL,
  at timestamptz NOT NULL,
  -- The items with their versions and the kinds of their changes, in the order of versions.
  items uuid[] NOT NULL,
  versions bigint[] NOT NULL,
  -- `published`: was not in the feed, and is. `changed`: was and is. `retracted`: is no longer, also if it was withdrawn.
  -- `expired`. `alert`: an alert is requested, and the item has not changed.
  kinds text[] NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- The requests of editors for alerts. An item has one, ever, so that no edit and no retry can repeat it. A trigger deletes
-- it with the item.
CREATE TABLE item_alerts (
  item uuid PRIMARY KEY,
  editor text,
  requested_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- `waiting` until the item is published, `cancelled` if it was taken down before or after.
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'released', 'cancelled')),
  -- The alert.
  push uuid,
  CONSTRAINT item_alerts_push_check CHECK (state <> 'released' OR push IS NOT NULL)
);

-- The pushes of the last 30 days, each to many devices.
CREATE TABLE pushes (
  id uuid PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('silent', 'alert', 'retraction')),
  -- The newest item. Items have no foreign key here, because a publication must not wait for pushes.
  item uuid,
  -- The version that a device has if it need not be woken. Versions are comparable within one epoch only.
  epoch text NOT NULL,
  version bigint NOT NULL,
  -- The topics with changes. Devices that follow the feed are in each audience.
  scopes text[] COLLATE "C" NOT NULL,
  -- The visible part: title, body, url, language, breaking. NULL for other pushes, and after the item was erased.
  content jsonb,
  created_at timestamptz NOT NULL,
  -- The end of the time in which further changes join a silent push.
  starts_at timestamptz NOT NULL,
  fan_out_started_at timestamptz,
  -- The last device of the last batch; NULL before the first.
  last_device uuid,
  fanned_out_at timestamptz,
  cancelled_at timestamptz,
  -- The number of devices so far.
  audience bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

-- One silent push collects the changes of all processes until it starts.
CREATE UNIQUE INDEX pushes_collecting ON pushes (kind) WHERE kind = 'silent' AND fan_out_started_at IS NULL;
CREATE INDEX pushes_active ON pushes (starts_at) WHERE fanned_out_at IS NULL;
CREATE INDEX pushes_by_age ON pushes (created_at, id);
CREATE INDEX pushes_by_item ON pushes (item);

-- The outcomes of the messages of pushes. They are a table of their own because the fan-out locks rows of `pushes`, which
-- must delay no record of outcomes.
CREATE TABLE push_results (
  push uuid PRIMARY KEY REFERENCES pushes ON DELETE CASCADE,
  sent bigint NOT NULL DEFAULT 0,
  refused bigint NOT NULL DEFAULT 0,
  gone bigint NOT NULL DEFAULT 0,
  dropped bigint NOT NULL DEFAULT 0,
  reports bigint NOT NULL DEFAULT 0,
  woke bigint NOT NULL DEFAULT 0,
  found_news bigint NOT NULL DEFAULT 0,
  last_sent_at timestamptz
) WITH (fillfactor = 50);

-- The silent push that a device is owed. It has one row, so that it is owed one at most: a later push takes the place of an
-- earlier one. Devices have no foreign key here, because its checks would double the cost of a batch and have it wait for
-- registrations. A row of a device that is gone is deleted by the next claim.
CREATE TABLE deliveries (
  device uuid PRIMARY KEY,
  provider text NOT NULL,
  -- The push; NULL if none is owed, and for the first push of a pending device, which carries its code.
  push uuid,
  -- The time at which the message may be sent; NULL if none is owed. A claim sets it to the end of its lease, so that the
  -- claim of a dead process ends by itself.
  due_at timestamptz,
  -- The claim of the process that sends the message.
  claim uuid,
  -- The number of failures of this message.
  attempts bigint NOT NULL DEFAULT 0,
  -- The times of the messages of the last hour, oldest first.
  sent timestamptz[] NOT NULL DEFAULT '{}',
  -- The time at which a push may be sent that has taken the place of a claimed one; NULL for any time.
  next_at timestamptz
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX deliveries_due ON deliveries (provider, due_at) WHERE due_at IS NOT NULL;

-- The alerts that devices are owed. A row is deleted when it is done.
CREATE TABLE alert_deliveries (
  device uuid NOT NULL,
  push uuid NOT NULL,
  provider text NOT NULL,
  due_at timestamptz NOT NULL,
  claim uuid,
  attempts bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (device, push)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX alert_deliveries_due ON alert_deliveries (provider, due_at);

-- The push services that are paused, because they refuse too many addresses.
CREATE TABLE push_providers (
  provider text PRIMARY KEY CHECK (provider IN ('apns', 'fcm', 'webpush')),
  -- NULL if it is not paused.
  paused_until timestamptz,
  reason text,
  -- The number of pauses since the last success.
  pauses bigint NOT NULL DEFAULT 0,
  changed_at timestamptz NOT NULL
);

CREATE FUNCTION forget_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM deliveries AS d USING removed AS r WHERE d.device = r.id;
  DELETE FROM alert_deliveries AS d USING removed AS r WHERE d.device = r.id;
  RETURN NULL;
END
$$;

CREATE TRIGGER devices_forget_deliveries AFTER DELETE ON devices
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION forget_deliveries();

-- Erases the texts of alerts for an item that is erased, and with a deleted item the request too. The outbox has no texts.
CREATE FUNCTION forget_alerts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE pushes SET content = NULL WHERE item = OLD.id AND content IS NOT NULL;
  IF TG_OP = 'DELETE' THEN
    DELETE FROM item_alerts WHERE item = OLD.id;
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER items_forget_alerts AFTER UPDATE OF erased_at ON items
  FOR EACH ROW WHEN (NEW.erased_at IS NOT NULL AND OLD.erased_at IS NULL) EXECUTE FUNCTION forget_alerts();
CREATE TRIGGER items_forget_alerts_at_end AFTER DELETE ON items
  FOR EACH ROW EXECUTE FUNCTION forget_alerts();

-- Publishes the current state of the given items: stamps the log and the scopes with new versions, and notifies. It is
-- called last in a transaction, with the COMMIT right behind, because all other publishers wait for the counter
-- meanwhile. The outbox receives one row, whatever the number of items.
--
-- Returns a row for each given item that was ever in the feed, with its version, and whether this call changed it. An
-- item whose public columns are unchanged receives no new version.
--
-- READ COMMITTED is required: a snapshot from before the counter was locked could miss the work of the previous
-- publisher.
CREATE OR REPLACE FUNCTION publish(ids uuid[])
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
          AND (l.date, l.language, l.author, l.breaking) IS DISTINCT FROM (i.date, i.language, i.author, i.breaking) AS shifted
      FROM unnest(stamped) WITH ORDINALITY AS o (id, n)
        JOIN items AS i ON i.id = o.id
        LEFT JOIN change_log AS l ON l.item = i.id AND l.scope = ''
    ), wanted AS (
      SELECT c.id, s.scope, c.version, c.date, c.updated, c.digest, c.language, c.author, c.breaking, c.size,
        c.html_size, c.shifted, old.present IS TRUE AS was_present, old.ordinal IS NULL AND old.present IS NOT TRUE AS is_new
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
