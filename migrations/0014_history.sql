-- The history of items: the author and the time of each write, the fields that it changed, and their former values.
--
-- Triggers write it, so that it also contains the writes of plain SQL, whose author is unknown.

ALTER TABLE items
  -- The author of the last write, as `KIND` or `KIND:NAME`, such as `key:desk`, `import` or `schedule`.
  ADD COLUMN editor text,
  -- The revision that `editor` has written. A later revision has another author, who is unknown.
  ADD COLUMN editor_revision bigint;

CREATE TABLE item_history (
  -- The order of the writes.
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  item uuid NOT NULL,
  -- The revision that the write made.
  revision bigint NOT NULL,
  at timestamptz NOT NULL,
  -- The author; NULL if unknown.
  editor text,
  -- The state after the write.
  state text NOT NULL,
  -- The changed fields, by their names in the API. A creation has none.
  fields text[] NOT NULL,
  -- The former values of the fields that had one.
  replaced jsonb NOT NULL,
  UNIQUE (item, revision)
);

-- The form of dates in the API.
CREATE FUNCTION json_date(moment timestamptz) RETURNS jsonb LANGUAGE sql STABLE PARALLEL SAFE
RETURN to_jsonb(to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));

-- The value of a field of an item, in the form of the API; NULL if it has none.
CREATE FUNCTION item_field(i items, field text) RETURNS jsonb LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE field
  WHEN 'state' THEN to_jsonb(i.state)
  WHEN 'publishAt' THEN json_date(i.publish_at)
  WHEN 'expireAt' THEN json_date(i.expire_at)
  WHEN 'date' THEN CASE WHEN i.has_date THEN json_date(i.date) END
  WHEN 'title' THEN to_jsonb(i.title)
  WHEN 'summary' THEN to_jsonb(i.summary)
  WHEN 'text' THEN to_jsonb(i.text)
  WHEN 'html' THEN to_jsonb(i.html)
  WHEN 'topics' THEN to_jsonb(i.topics)
  WHEN 'language' THEN to_jsonb(i.language)
  WHEN 'url' THEN to_jsonb(i.url)
  WHEN 'author' THEN to_jsonb(i.author)
  WHEN 'breaking' THEN to_jsonb(i.breaking)
  WHEN 'attachments' THEN i.attachments
  WHEN 'retractionReason' THEN to_jsonb(i.retraction_reason)
  WHEN 'erased' THEN json_date(i.erased_at)
END;

-- A trigger for each statement, because imports create many items at once.
CREATE FUNCTION note_creations() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO item_history (item, revision, at, editor, state, fields, replaced)
    SELECT n.id, n.revision, n.created_at, CASE WHEN n.editor_revision = n.revision THEN n.editor END, n.state, '{}', '{}'
    FROM created AS n;
  RETURN NULL;
END
$$;

CREATE TRIGGER items_note_creations AFTER INSERT ON items
  REFERENCING NEW TABLE AS created FOR EACH STATEMENT EXECUTE FUNCTION note_creations();

CREATE FUNCTION note_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changed text[];
  former jsonb := '{}';
BEGIN
  IF NEW.erased_at IS NOT NULL AND OLD.erased_at IS NULL THEN
    changed := '{erased}';
  ELSE
    changed := array_remove(ARRAY[
      CASE WHEN NEW.state <> OLD.state THEN 'state' END,
      CASE WHEN NEW.publish_at IS DISTINCT FROM OLD.publish_at THEN 'publishAt' END,
      CASE WHEN NEW.expire_at IS DISTINCT FROM OLD.expire_at THEN 'expireAt' END,
      CASE WHEN (NEW.has_date, CASE WHEN NEW.has_date THEN NEW.date END) IS DISTINCT FROM
        (OLD.has_date, CASE WHEN OLD.has_date THEN OLD.date END) THEN 'date' END,
      CASE WHEN NEW.title IS DISTINCT FROM OLD.title THEN 'title' END,
      CASE WHEN NEW.summary IS DISTINCT FROM OLD.summary THEN 'summary' END,
      CASE WHEN NEW.text <> OLD.text THEN 'text' END,
      CASE WHEN NEW.html IS DISTINCT FROM OLD.html THEN 'html' END,
      CASE WHEN NEW.topics <> OLD.topics THEN 'topics' END,
      CASE WHEN NEW.language IS DISTINCT FROM OLD.language THEN 'language' END,
      CASE WHEN NEW.url IS DISTINCT FROM OLD.url THEN 'url' END,
      CASE WHEN NEW.author IS DISTINCT FROM OLD.author THEN 'author' END,
      CASE WHEN NEW.breaking <> OLD.breaking THEN 'breaking' END,
      CASE WHEN NEW.attachments <> OLD.attachments THEN 'attachments' END,
      CASE WHEN NEW.retraction_reason IS DISTINCT FROM OLD.retraction_reason THEN 'retractionReason' END], NULL);
    -- The former values of an erased item must not survive in its history.
    IF NEW.erased_at IS NULL THEN
      SELECT coalesce(jsonb_object_agg(c.field, c.value) FILTER (WHERE c.value IS NOT NULL), '{}') INTO former
        FROM (SELECT f.name AS field, item_field(OLD, f.name) AS value FROM unnest(changed) AS f (name)) AS c;
    END IF;
  END IF;
  IF cardinality(changed) > 0 THEN
    INSERT INTO item_history (item, revision, at, editor, state, fields, replaced)
      VALUES (NEW.id, NEW.revision, NEW.written_at, CASE WHEN NEW.editor_revision = NEW.revision THEN NEW.editor END,
        NEW.state, changed, former);
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER items_note_change AFTER UPDATE ON items FOR EACH ROW EXECUTE FUNCTION note_change();

CREATE FUNCTION forget_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM item_history WHERE item = OLD.id;
  RETURN NULL;
END
$$;

CREATE TRIGGER items_forget_history AFTER DELETE ON items FOR EACH ROW EXECUTE FUNCTION forget_history();

-- Publishes and ends items by schedule; the same as before, with an author for the history.
CREATE OR REPLACE FUNCTION apply_schedule(
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
          has_date = true, editor = 'schedule', editor_revision = i.revision + 1
        WHERE i.id = ANY (opened);
    END IF;
    IF ended IS NOT NULL THEN
      UPDATE items AS i SET state = 'expired', editor = 'schedule', editor_revision = i.revision + 1
        WHERE i.id = ANY (ended);
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
