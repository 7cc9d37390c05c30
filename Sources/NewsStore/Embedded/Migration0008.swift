// Made by scripts/embed from migrations/0008_cheaper_writes.sql; do not edit.
// swift-format-ignore-file

let migration0008 = #"""
-- Less work for each write. All functions return the same values as before, so that stored columns and indexes remain
-- valid.
--
-- PostgreSQL plans the body of an SQL function in every statement that calls it, unless the body becomes a part of the
-- calling expression (inlining), which is only possible for a single expression whose functions are all IMMUTABLE. A
-- PL/pgSQL function keeps its plans for the session. pg_restore calls these functions with an empty search path, so the
-- bodies in PL/pgSQL call functions of pg_catalog only.

-- A statement looks up the language of a function before it reads the body. One that saw the language of before and the
-- body of after would fail. These are the tables of the statements that call the functions.
LOCK TABLE items, scopes, epochs IN ACCESS EXCLUSIVE MODE;

CREATE OR REPLACE FUNCTION item_digest(
  date_ms bigint, title text, summary text, text text, html text, topics text[], language text, url text,
  author text, breaking boolean, attachments jsonb
) RETURNS bytea LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN substr(sha256(convert_to(jsonb_build_array(
    date_ms, title, summary, text, html, to_jsonb(topics), language, url, author, breaking, attachments)::text,
    'UTF8')), 1, 16);
END
$$;

-- Inlined. extract() of a timestamp without a time zone is IMMUTABLE.
CREATE OR REPLACE FUNCTION milliseconds(moment timestamptz) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN (extract(epoch FROM moment AT TIME ZONE 'UTC') * 1000)::bigint;

CREATE OR REPLACE FUNCTION json_size(value text) RETURNS integer LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN coalesce(octet_length(to_json(value)::text), 0);
END
$$;

-- The size of texts that need no escapes as JSON in bytes, without the first and the last quote. array_to_string() is
-- only STABLE, because the text form of some types depends on settings. That of text does not.
CREATE FUNCTION json_list_size(list text[]) RETURNS integer LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN octet_length(array_to_string(list, '","'));
END
$$;

-- Inlined.
CREATE OR REPLACE FUNCTION item_size(
  title text, summary text, text text, topics text[], url text, author text, attachments jsonb
) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN 700 + json_size(title) + json_size(summary) + json_size(text) + json_size(url) + json_size(author)
  + json_list_size(topics) + octet_length(attachments::text);

-- Not inlined: the plan of each search would contain all of it.
CREATE OR REPLACE FUNCTION search_configuration(language text) RETURNS regconfig
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN CASE lower(split_part(language, '-', 1))
    WHEN 'ar' THEN 'pg_catalog.arabic'::regconfig
    WHEN 'ca' THEN 'pg_catalog.catalan'::regconfig
    WHEN 'da' THEN 'pg_catalog.danish'::regconfig
    WHEN 'de' THEN 'pg_catalog.german'::regconfig
    WHEN 'el' THEN 'pg_catalog.greek'::regconfig
    WHEN 'en' THEN 'pg_catalog.english'::regconfig
    WHEN 'es' THEN 'pg_catalog.spanish'::regconfig
    WHEN 'eu' THEN 'pg_catalog.basque'::regconfig
    WHEN 'fi' THEN 'pg_catalog.finnish'::regconfig
    WHEN 'fr' THEN 'pg_catalog.french'::regconfig
    WHEN 'ga' THEN 'pg_catalog.irish'::regconfig
    WHEN 'hi' THEN 'pg_catalog.hindi'::regconfig
    WHEN 'hu' THEN 'pg_catalog.hungarian'::regconfig
    WHEN 'hy' THEN 'pg_catalog.armenian'::regconfig
    WHEN 'id' THEN 'pg_catalog.indonesian'::regconfig
    WHEN 'it' THEN 'pg_catalog.italian'::regconfig
    WHEN 'lt' THEN 'pg_catalog.lithuanian'::regconfig
    WHEN 'nb' THEN 'pg_catalog.norwegian'::regconfig
    WHEN 'ne' THEN 'pg_catalog.nepali'::regconfig
    WHEN 'nl' THEN 'pg_catalog.dutch'::regconfig
    WHEN 'nn' THEN 'pg_catalog.norwegian'::regconfig
    WHEN 'no' THEN 'pg_catalog.norwegian'::regconfig
    WHEN 'pt' THEN 'pg_catalog.portuguese'::regconfig
    WHEN 'ro' THEN 'pg_catalog.romanian'::regconfig
    WHEN 'ru' THEN 'pg_catalog.russian'::regconfig
    WHEN 'sr' THEN 'pg_catalog.serbian'::regconfig
    WHEN 'sv' THEN 'pg_catalog.swedish'::regconfig
    WHEN 'ta' THEN 'pg_catalog.tamil'::regconfig
    WHEN 'tr' THEN 'pg_catalog.turkish'::regconfig
    WHEN 'yi' THEN 'pg_catalog.yiddish'::regconfig
    ELSE 'pg_catalog.simple'::regconfig
  END;
END
$$;

-- The search document for the words of an item, as item_search() describes it. The planner learns from the cost that
-- parsing a text is expensive.
CREATE FUNCTION search_document(configuration regconfig, words text, day integer) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 5000 AS $$
BEGIN
  RETURN to_tsvector('pg_catalog.simple', words)
    || CASE WHEN configuration = 'pg_catalog.simple'::regconfig THEN ''::tsvector
      ELSE to_tsvector(configuration, words) END
    || array_to_tsvector(ARRAY['1 day ' || day, '32 days ' || (day >> 5), '1024 days ' || (day >> 10)]);
END
$$;

-- The search document of an item: its words as written and as its language inflects them, and its day. Inlined.
--
-- Title and summary precede the text. Only the first 100,000 characters count, because a tsvector is limited to 1 MiB.
--
-- Readers receive the newest items first. The index list of a common word has a tenth of all items and is decoded as a
-- whole, unless the index also shows which items are new. So the day is in the document too, in buckets of 1, 32 and
-- 1024 days, so that a few buckets cover the newest items of any feed. A bucket is a lexeme that no reader can search
-- for, because it contains a space.
CREATE OR REPLACE FUNCTION item_search(language text, title text, summary text, text text, date timestamptz)
RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN search_document(
  search_configuration(language),
  left(coalesce(title || E'\n', '') || coalesce(summary || E'\n', '') || text, 100000),
  day_number(date));

-- A session matches a query with the expression of the index as it was inlined when the session first used the index.
-- The change makes all sessions inline it again. The list of new entries, which each search reads as a whole, becomes
-- shorter, and with it the time for which a writer empties it.
ALTER INDEX items_by_search_and_day SET (gin_pending_list_limit = 1024);

CREATE OR REPLACE FUNCTION database_identity(
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

CREATE OR REPLACE FUNCTION epoch_fits() RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
    SELECT (e.system_identifier, e.timeline, e.database_oid, e.counter_oid)
        = (i.system_identifier, i.timeline, i.database_oid, i.counter_oid)
      FROM (SELECT * FROM epochs ORDER BY number DESC LIMIT 1) AS e, database_identity() AS i
  );
END
$$;

-- The statements of publish() and require_publication() look up rows by key, so that one plan suffices for a session,
-- even if it was made while the tables were empty.

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
      SELECT i.id, i.state, i.topics, i.date, i.digest, i.language, i.author, i.size, base + o.n AS version,
        CASE i.state WHEN 'published' THEN json_size(i.html) END AS html_size,
        greatest(moment, l.updated + interval '1 millisecond') AS updated,
        l.present IS TRUE
          AND (l.date, l.language, l.author) IS DISTINCT FROM (i.date, i.language, i.author) AS shifted
      FROM unnest(stamped) WITH ORDINALITY AS o (id, n)
        JOIN items AS i ON i.id = o.id
        LEFT JOIN change_log AS l ON l.item = i.id AND l.scope = ''
    ), wanted AS (
      SELECT c.id, s.scope, c.version, c.date, c.updated, c.digest, c.language, c.author, c.size, c.html_size,
        c.shifted, old.present IS TRUE AS was_present
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
          item, scope, version, present, date, updated, digest, language, author, size, html_size)
        SELECT id, scope, version, true, date, updated, digest, language, author, size, html_size FROM wanted
        ON CONFLICT (item, scope) DO UPDATE SET version = excluded.version, present = true, reason = NULL,
          date = excluded.date, updated = excluded.updated, digest = excluded.digest,
          language = excluded.language, author = excluded.author, size = excluded.size,
          html_size = excluded.html_size
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

ALTER FUNCTION require_publication() SET plan_cache_mode = 'force_generic_plan';

"""#
