// Made by scripts/embed from migrations/0003_state.sql; do not edit.
// swift-format-ignore-file

let migration0003 = #"""
-- What keeps the processes' picture of the feed fresh besides publish().

-- Titles, positions and new topics change no version. Whoever keeps the topics in memory is told, and looks at this sum
-- when it asks by itself.
CREATE FUNCTION topics_revision() RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(revision), 0) FROM topics
$$;

CREATE FUNCTION notify_topics() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('tidings', 'topics');
  RETURN NULL;
END
$$;

CREATE TRIGGER topics_notify AFTER INSERT OR UPDATE OR DELETE ON topics
  FOR EACH STATEMENT EXECUTE FUNCTION notify_topics();

-- pg_dump restores with an empty search path, in which a function whose body is text finds no other one of ours: the
-- generated column and the index that need these two could not be made again. A body that is parsed here and now keeps
-- what it means (PostgreSQL, CREATE FUNCTION). They say what they said before.
CREATE OR REPLACE FUNCTION item_size(
  title text, summary text, text text, topics text[], url text, author text, attachments jsonb
) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN 700 + json_size(title) + json_size(summary) + json_size(text) + json_size(url) + json_size(author)
  + octet_length(array_to_string(topics, '","')) + octet_length(attachments::text);

CREATE OR REPLACE FUNCTION item_search(language text, title text, summary text, text text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 5000
RETURN (
  SELECT CASE WHEN i.configuration = 'pg_catalog.simple'::regconfig THEN to_tsvector('pg_catalog.simple', i.words)
      ELSE to_tsvector('pg_catalog.simple', i.words) || to_tsvector(i.configuration, i.words) END
  FROM (
    SELECT search_configuration(language) AS configuration,
      left(coalesce(title || E'\n', '') || coalesce(summary || E'\n', '') || text, 100000) AS words
  ) AS i
);

"""#
