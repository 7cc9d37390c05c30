-- The order of first publication, by which the archives of feeds are divided (RFC 5005): an archive holds 100 numbers of a
-- scope, so that its address and its items stay the same.
--
-- The tables are locked for an instant. The next migration numbers the items that are published already, while others
-- write. Their numbers are the first ones of each scope, and are reserved here.

LOCK TABLE items, scopes, change_log IN ACCESS EXCLUSIVE MODE;

ALTER TABLE change_log
  -- The number of the item's first publication in the scope, from 1. It stays when the item leaves the scope and returns
  -- before the tombstone is purged. NULL in tombstones of before, and in rows that the next migration numbers.
  ADD COLUMN ordinal bigint;

ALTER TABLE scopes
  -- The last number that was given to an item of the scope.
  ADD COLUMN published bigint NOT NULL DEFAULT 0 CHECK (published >= 0);

UPDATE scopes SET published = items WHERE items > 0;

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

-- Writes the numbers of `publications_to_number` into the log, 1000 at a time, each batch in a transaction of its own. It
-- never waits for a row, so that no publisher waits for it for longer than a batch. Rows that others hold are numbered in a
-- later pass. A row that has left its scope needs no number.
CREATE PROCEDURE number_publications() LANGUAGE plpgsql AS $$
DECLARE
  batch bigint;
  last bigint := (SELECT max(o.n) FROM publications_to_number AS o);
  is_complete boolean := false;
BEGIN
  WHILE NOT is_complete LOOP
    is_complete := true;
    FOR batch IN 0..coalesce(last, 0) / 1000 LOOP
      WITH free AS (
        SELECT l.item, l.scope, o.ordinal
          FROM publications_to_number AS o JOIN change_log AS l ON l.item = o.item AND l.scope = o.scope
          WHERE o.n BETWEEN batch * 1000 AND batch * 1000 + 999 AND l.present AND l.ordinal IS NULL
          ORDER BY l.item, l.scope FOR NO KEY UPDATE OF l SKIP LOCKED
      )
      UPDATE change_log AS l SET ordinal = f.ordinal FROM free AS f WHERE l.item = f.item AND l.scope = f.scope;
      IF EXISTS (
        SELECT FROM publications_to_number AS o JOIN change_log AS l ON l.item = o.item AND l.scope = o.scope
          WHERE o.n BETWEEN batch * 1000 AND batch * 1000 + 999 AND l.present AND l.ordinal IS NULL
      ) THEN
        is_complete := false;
      END IF;
      COMMIT;
    END LOOP;
    IF NOT is_complete THEN
      PERFORM pg_sleep(0.05);
    END IF;
  END LOOP;
END
$$;
