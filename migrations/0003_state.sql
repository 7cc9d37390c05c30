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
