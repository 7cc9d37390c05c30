// Made by scripts/embed from migrations/0002_search.sql; do not edit.
// swift-format-ignore-file

let migration0002 = #"""
-- Full text search of items (PostgreSQL, chapter 12).

-- The text search configuration of a BCP 47 language tag, by its primary subtag; 'simple', which folds case and no more,
-- where there is none. A function, because a stored regconfig column would stand in the way of pg_upgrade.
CREATE FUNCTION search_configuration(language text) RETURNS regconfig LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE lower(split_part(language, '-', 1))
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
  END
$$;

-- The words of an item as they are written, and as its language inflects them. Title and summary come before the
-- text, of which the first 100 000 characters count: a tsvector has room for one MiB, whatever the words are.
CREATE FUNCTION item_search(language text, title text, summary text, text text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 5000 AS $$
  SELECT CASE WHEN i.configuration = 'pg_catalog.simple'::regconfig THEN to_tsvector('pg_catalog.simple', i.words)
      ELSE to_tsvector('pg_catalog.simple', i.words) || to_tsvector(i.configuration, i.words) END
  FROM (
    SELECT search_configuration(language) AS configuration,
      left(coalesce(title || E'\n', '') || coalesce(summary || E'\n', '') || text, 100000) AS words
  ) AS i
$$;

-- Of the function and not of a stored column, which would be three times as large as the texts. A common word is met soon
-- enough on the way back from the newest item: the planner has to know what taking a text apart costs.
CREATE INDEX items_by_search ON items USING gin (item_search(language, title, summary, text));

"""#
