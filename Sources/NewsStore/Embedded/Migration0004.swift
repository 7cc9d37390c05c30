// Made by scripts/embed from migrations/0004_search_by_day.sql; do not edit.
// swift-format-ignore-file

let migration0004 = #"""
-- outside a transaction
--
-- Readers get the newest items with a word. The list of a common word in the index has a tenth of all items, and is
-- decoded whole, unless the index can tell which part of it is new. So an item's day is in the index too, as a word that
-- no reader can write, because it has a space. It is there in three widths, so that the newest items are of a few of them.
--
-- The index is built concurrently, so that items are read and written meanwhile. Every statement can be repeated.

CREATE OR REPLACE FUNCTION day_number(date timestamptz) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN floor(extract(epoch FROM date AT TIME ZONE 'UTC') / 86400)::integer;

-- The words of an item, as they are written and as its language inflects them, and its day.
CREATE OR REPLACE FUNCTION item_search(language text, title text, summary text, text text, date timestamptz)
RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 5000
RETURN (
  SELECT to_tsvector('pg_catalog.simple', i.words)
    || CASE WHEN i.configuration = 'pg_catalog.simple'::regconfig THEN ''::tsvector
      ELSE to_tsvector(i.configuration, i.words) END
    || array_to_tsvector(ARRAY['1 day ' || i.day, '32 days ' || (i.day >> 5), '1024 days ' || (i.day >> 10)])
  FROM (
    SELECT search_configuration(language) AS configuration, day_number(date) AS day,
      left(coalesce(title || E'\n', '') || coalesce(summary || E'\n', '') || text, 100000) AS words
  ) AS i
);

-- Finds the items of these days, and more of the months or years they are in where they are many days.
CREATE OR REPLACE FUNCTION days_search(days integer[]) RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
  SELECT string_agg(format('''%s %s''', w.width, b.bucket), '|')::tsquery
  FROM (
    SELECT v.width, v.bits FROM (VALUES ('1 day', 0), ('32 days', 5), ('1024 days', 10)) AS v (width, bits)
    WHERE (SELECT count(DISTINCT d >> v.bits) FROM unnest(days) AS d) <= 40 ORDER BY v.bits LIMIT 1
  ) AS w CROSS JOIN LATERAL (SELECT DISTINCT d >> w.bits AS bucket FROM unnest(days) AS d) AS b
);

-- A failed attempt leaves an invalid index.
DROP INDEX CONCURRENTLY IF EXISTS items_by_search_and_day;
CREATE INDEX CONCURRENTLY items_by_search_and_day
  ON items USING gin (item_search(language, title, summary, text, date));
DROP INDEX CONCURRENTLY IF EXISTS items_by_search;
DROP FUNCTION IF EXISTS item_search(text, text, text, text);

"""#
