// Made by scripts/embed from migrations/0011_states.sql; do not edit.
// swift-format-ignore-file

let migration0011 = #"""
-- The life of an item: review, schedules, dates that are set at publication, and the time of the last write. Lists can
-- select breaking news.
--
-- The tables are locked for an instant. The next migration fills the log and builds the indexes while others write.

LOCK TABLE items, scopes, change_log IN ACCESS EXCLUSIVE MODE;

ALTER TABLE items
  DROP CONSTRAINT items_state_check,
  -- Existing rows obey the narrower rule of before.
  ADD CONSTRAINT items_state_check
    CHECK (state IN ('draft', 'review', 'scheduled', 'published', 'retracted', 'expired')) NOT VALID,
  ADD CONSTRAINT items_schedule CHECK (state <> 'scheduled' OR publish_at IS NOT NULL) NOT VALID,
  -- Whether an editor, or the publication, has set the date. Until then it is that of the last write.
  ADD COLUMN has_date boolean NOT NULL DEFAULT true,
  ADD CONSTRAINT items_published_date CHECK (has_date OR state <> 'published') NOT VALID,
  -- The time of the last write; NULL if there was none since this column exists.
  ADD COLUMN written_at timestamptz;

ALTER TABLE items ALTER COLUMN written_at SET DEFAULT clock_timestamp();

CREATE OR REPLACE FUNCTION count_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.id <> OLD.id THEN
    RAISE EXCEPTION 'the id of an item never changes' USING ERRCODE = 'TD005';
  END IF;
  NEW.revision := OLD.revision + 1;
  NEW.written_at := clock_timestamp();
  RETURN NEW;
END
$$;

-- Whether the published item is breaking news.
ALTER TABLE change_log ADD COLUMN breaking boolean NOT NULL DEFAULT false;

-- Publishes the current state of the given items: stamps the log and the scopes with new versions, and notifies. It is
-- called last in a transaction, with the COMMIT right behind, because all other publishers wait for the counter
-- meanwhile.
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
      bool_or(EXISTS (SELECT FROM change_log WHERE change_log.item = i.id))
    INTO stamped, is_logged
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
          item, scope, version, present, date, updated, digest, language, author, breaking, size, html_size)
        SELECT i.id, s.scope, base + o.n, true, i.date, moment, i.digest, i.language, i.author, i.breaking, i.size,
          json_size(i.html)
        FROM unnest(stamped) WITH ORDINALITY AS o (id, n)
          JOIN items AS i ON i.id = o.id
          CROSS JOIN LATERAL (SELECT DISTINCT unnest(array_prepend(''::text, i.topics))) AS s (scope)
        RETURNING l.scope, l.version
    ), total AS (
      SELECT scope, max(version) AS version, count(*) AS added FROM put GROUP BY scope
    )
    UPDATE scopes AS s
      SET version = t.version, items = s.items + t.added, changed_at = greatest(s.changed_at, moment)
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
        c.html_size, c.shifted, old.present IS TRUE AS was_present
      FROM change AS c
        CROSS JOIN LATERAL (SELECT DISTINCT unnest(array_prepend(''::text, c.topics))) AS s (scope)
        LEFT JOIN LATERAL (
          -- OFFSET keeps both conditions together, for a lookup by key.
          SELECT present FROM change_log WHERE change_log.item = c.id AND change_log.scope = s.scope OFFSET 0
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
          item, scope, version, present, date, updated, digest, language, author, breaking, size, html_size)
        SELECT id, scope, version, true, date, updated, digest, language, author, breaking, size, html_size FROM wanted
        ON CONFLICT (item, scope) DO UPDATE SET version = excluded.version, present = true, reason = NULL,
          date = excluded.date, updated = excluded.updated, digest = excluded.digest,
          language = excluded.language, author = excluded.author, breaking = excluded.breaking,
          size = excluded.size, html_size = excluded.html_size
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
  END IF;

  IF stamped IS NOT NULL THEN
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

------------------------------------------------------------------------------------------------------------------
-- Schedules
------------------------------------------------------------------------------------------------------------------

-- Whether one of the topics does not exist.
CREATE FUNCTION has_unknown_topic(slugs text[]) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM unnest(slugs) AS s (slug) WHERE NOT EXISTS (SELECT FROM topics AS t WHERE t.slug = s.slug)
  );
END
$$;

-- Publishes scheduled items whose time has come, and ends published ones that expire, at most `most` of each. An item
-- whose whole time has passed meanwhile expires without a publication. Items that a transaction holds are left to the
-- next call. So is everything while another session runs this function: any process may call it, and the clock of the
-- database decides.
--
-- An item with an unknown topic cannot be published. It is left as it is and counted in `stuck`. `selected` restricts the call
-- to some items, for a caller that has found one of several to fail.
--
-- Returns the number of changed items, and the time of the next one that is due; NULL if none is.
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
          has_date = true
        WHERE i.id = ANY (opened);
    END IF;
    IF ended IS NOT NULL THEN
      UPDATE items AS i SET state = 'expired' WHERE i.id = ANY (ended);
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

-- Fills the new column of the log, in short transactions. The counter is locked first, as publishers do.
CREATE PROCEDURE fill_change_log_breaking() LANGUAGE plpgsql AS $$
DECLARE
  marked uuid[] := ARRAY(SELECT i.id FROM items AS i WHERE i.breaking);
BEGIN
  FOR n IN 0..(cardinality(marked) - 1) / 500 LOOP
    PERFORM 1 FROM scopes WHERE scope = '' FOR UPDATE;
    UPDATE change_log AS l SET breaking = true
      FROM items AS i
      WHERE i.id = ANY (marked[n * 500 + 1:n * 500 + 500]) AND i.breaking AND l.item = i.id AND l.present AND NOT l.breaking;
    COMMIT;
  END LOOP;
END
$$;

"""#
