-- Every change of a topic moves the revision of the topics, whoever makes it: an edit by plain SQL, a deletion, a deletion
-- and an addition together. It was the sum of the revisions of all topics, which these can leave as it was.

-- One row, and no sequence: the new value must not be visible before the change that it stands for.
CREATE TABLE topics_state (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  revision bigint NOT NULL
);

-- Not below what servers have seen of the sum.
INSERT INTO topics_state (revision) SELECT coalesce(sum(revision), 0) FROM topics;

CREATE OR REPLACE FUNCTION topics_revision() RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT revision FROM topics_state
$$;

CREATE FUNCTION move_topics_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE topics_state SET revision = revision + 1;
  RETURN NULL;
END
$$;

-- At the end of the transaction, so that the row is locked only briefly.
CREATE CONSTRAINT TRIGGER topics_changed AFTER INSERT OR DELETE ON topics
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION move_topics_revision();
CREATE CONSTRAINT TRIGGER topics_updated AFTER UPDATE ON topics
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*)
  EXECUTE FUNCTION move_topics_revision();
CREATE TRIGGER topics_truncated AFTER TRUNCATE ON topics
  FOR EACH STATEMENT EXECUTE FUNCTION move_topics_revision();

-- The revision of a topic is the lock of editors: an edit by plain SQL moves it too.
CREATE FUNCTION move_topic_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.revision := OLD.revision + 1;
  NEW.updated := greatest(date_trunc('milliseconds', clock_timestamp()), OLD.updated + interval '1 millisecond');
  RETURN NEW;
END
$$;

CREATE TRIGGER topics_edited BEFORE UPDATE ON topics FOR EACH ROW
  WHEN ((OLD.titles, OLD.position) IS DISTINCT FROM (NEW.titles, NEW.position) AND OLD.revision = NEW.revision)
  EXECUTE FUNCTION move_topic_revision();

-- A token that is current never expires.
ALTER TABLE scopes ADD CONSTRAINT scopes_floor_reached CHECK (floor <= version);
