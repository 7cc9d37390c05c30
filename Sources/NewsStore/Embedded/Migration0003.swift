// Made by scripts/embed from migrations/0003_history.sql; do not edit.
// swift-format-ignore-file

let migration0003 = #"""
-- The history of items, and the stored answers to requests of editors.

------------------------------------------------------------------------------------------------------------------
-- History
------------------------------------------------------------------------------------------------------------------

CREATE TABLE item_history (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  item uuid NOT NULL,
  revision bigint NOT NULL,
  at timestamptz NOT NULL,
  editor text,
  state text NOT NULL,
  fields text[] NOT NULL,
  replaced jsonb NOT NULL,
  UNIQUE (item, revision)
);

COMMENT ON TABLE item_history IS
  'The history of items: the author and the time of each write, the fields that it changed, and their former values.
Triggers write it, so that it also contains the writes of plain SQL, whose author is unknown.';
COMMENT ON COLUMN item_history.number IS 'The order of the writes.';
COMMENT ON COLUMN item_history.revision IS 'The revision that the write made.';
COMMENT ON COLUMN item_history.editor IS 'The author; NULL if unknown.';
COMMENT ON COLUMN item_history.state IS 'The state after the write.';
COMMENT ON COLUMN item_history.fields IS 'The changed fields, by their names in the API. A creation has none.';
COMMENT ON COLUMN item_history.replaced IS 'The former values of the fields that had one.';

CREATE FUNCTION json_date(moment timestamptz) RETURNS jsonb LANGUAGE sql STABLE PARALLEL SAFE
RETURN to_jsonb(to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));

COMMENT ON FUNCTION json_date IS 'The form of dates in the API.';

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

COMMENT ON FUNCTION item_field IS 'The value of a field of an item, in the form of the API; NULL if it has none.';

CREATE FUNCTION note_creations() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO item_history (item, revision, at, editor, state, fields, replaced)
    SELECT n.id, n.revision, n.created_at, CASE WHEN n.editor_revision = n.revision THEN n.editor END, n.state,
      '{}', '{}'
    FROM created AS n;
  RETURN NULL;
END
$$;

COMMENT ON FUNCTION note_creations IS
  'Writes the first row of the history of each new item. It is a trigger for each statement, because imports create
many items at once.';

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

COMMENT ON FUNCTION note_change IS 'Writes the changed fields of an item, and their former values, into its history.';

CREATE TRIGGER items_note_change AFTER UPDATE ON items FOR EACH ROW EXECUTE FUNCTION note_change();

------------------------------------------------------------------------------------------------------------------
-- Answers
------------------------------------------------------------------------------------------------------------------

CREATE TABLE idempotency_answers (
  request bytea PRIMARY KEY CHECK (octet_length(request) = 32),
  body_digest bytea CHECK (octet_length(body_digest) = 32),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  status integer NOT NULL,
  headers jsonb NOT NULL,
  content text NOT NULL CHECK (content IN ('item', 'batch', 'other')),
  body bytea NOT NULL,
  items uuid[] NOT NULL DEFAULT '{}',
  published jsonb NOT NULL DEFAULT '{}'
);

COMMENT ON TABLE idempotency_answers IS
  'The answers to requests that have an Idempotency-Key, for repetitions within 24 hours. A row is written in the
transaction of the request''s effect.';
COMMENT ON COLUMN idempotency_answers.request IS
  'The SHA-256 digest of the API key''s id, the method, the target and the Idempotency-Key.';
COMMENT ON COLUMN idempotency_answers.body_digest IS
  'The SHA-256 digest of the body; NULL if the answer was erased with an item.';
COMMENT ON COLUMN idempotency_answers.headers IS
  'The header fields, without those of each single response, such as Date.';
COMMENT ON COLUMN idempotency_answers.content IS
  'The type of the body: an item and the results of a batch have versions, which are known after their publication.';
COMMENT ON COLUMN idempotency_answers.items IS 'The items whose texts the body contains.';
COMMENT ON COLUMN idempotency_answers.published IS
  'The versions of these items, as `{"id": [version, milliseconds of its time]}`. The body has those from before the
publication, because the client writes it and must not keep other publishers waiting.';

CREATE INDEX idempotency_answers_by_age ON idempotency_answers (created_at);
CREATE INDEX idempotency_answers_by_item ON idempotency_answers USING gin (items) WITH (fastupdate = off);

CREATE FUNCTION erase_answers(item uuid) RETURNS void LANGUAGE sql VOLATILE AS $$
  UPDATE idempotency_answers AS a
    SET body_digest = NULL, headers = '{}', content = 'other', body = '', items = '{}', published = '{}'
    WHERE a.items @> ARRAY[item]
$$;

COMMENT ON FUNCTION erase_answers IS
  'Erases the stored answers that contain the texts of an item. Their requests remain known, so that a repetition
still has no effect.';

CREATE FUNCTION forget_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM item_history WHERE item = OLD.id;
  PERFORM erase_answers(OLD.id);
  RETURN NULL;
END
$$;

COMMENT ON FUNCTION forget_history IS 'Deletes the history and the stored answers of a deleted item.';

CREATE TRIGGER items_forget_history AFTER DELETE ON items FOR EACH ROW EXECUTE FUNCTION forget_history();

"""#
