// Made by scripts/embed from migrations/0006_publish_plans.sql; do not edit.
// swift-format-ignore-file

let migration0006 = #"""
-- Publishing costs what it publishes, whatever the tables hold.
--
-- A session keeps the plans of these functions, and a plan that was made while the tables were small, or before ANALYZE
-- had seen them grow, read the whole log for each item: during an import other publishers waited for a second. All of
-- them look up a few rows by primary key, so that is the only kind of plan they are given. An import wants new plans
-- for its own statements, and not for these, which run once for each of its items.

-- Makes the present state of these items public: stamps log and scopes with new versions and notifies. All other work of
-- the transaction comes first and the COMMIT follows at once, because from here on every other publisher waits.
-- Returns every item that the feed has ever held, with its version and whether this call changed it; an item whose
-- public columns are as they were takes no version. READ COMMITTED is required: a snapshot taken before the counter
-- was locked could miss the previous publisher's work.
CREATE OR REPLACE FUNCTION publish(ids uuid[])
RETURNS TABLE (item uuid, version bigint, updated timestamptz, changed boolean) LANGUAGE plpgsql AS $$
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
  -- Plain SQL may be the first to write to a clone or a restored database: its versions belong to a new epoch.
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
      SELECT scope, max(version) AS version, bool_or(shifted) AS shifted, sum(added) AS added FROM touched GROUP BY scope
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
      -- OFFSET keeps it a subquery, looked up for each id and never the other way round.
      SELECT * FROM change_log WHERE change_log.item = o.id AND change_log.scope = '' OFFSET 0
    ) AS l;
END
$$;

ALTER FUNCTION publish(uuid[]) SET plan_cache_mode = 'auto';
ALTER FUNCTION publish(uuid[]) SET enable_seqscan = off;
ALTER FUNCTION publish(uuid[]) SET enable_hashjoin = off;
ALTER FUNCTION publish(uuid[]) SET enable_mergejoin = off;
ALTER FUNCTION publish(uuid[]) SET enable_material = off;

ALTER FUNCTION require_publication() SET plan_cache_mode = 'auto';
ALTER FUNCTION require_publication() SET enable_seqscan = off;
ALTER FUNCTION require_publication() SET enable_hashjoin = off;
ALTER FUNCTION require_publication() SET enable_mergejoin = off;
ALTER FUNCTION require_publication() SET enable_material = off;

ALTER FUNCTION purge_log(interval, integer) SET plan_cache_mode = 'auto';
ALTER FUNCTION purge_log(interval, integer) SET enable_seqscan = off;
ALTER FUNCTION purge_log(interval, integer) SET enable_hashjoin = off;
ALTER FUNCTION purge_log(interval, integer) SET enable_mergejoin = off;
ALTER FUNCTION purge_log(interval, integer) SET enable_material = off;

"""#
