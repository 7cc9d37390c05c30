-- The answers to requests that have an Idempotency-Key, for repetitions within 24 hours. A row is written in the transaction
-- of the request's effect.

CREATE TABLE idempotency_answers (
  -- The SHA-256 digest of the API key's id, the method, the target and the Idempotency-Key.
  request bytea PRIMARY KEY CHECK (octet_length(request) = 32),
  -- The SHA-256 digest of the body; NULL if the answer was erased with an item.
  body_digest bytea CHECK (octet_length(body_digest) = 32),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  status integer NOT NULL,
  -- The header fields, without those of each single response, such as Date.
  headers jsonb NOT NULL,
  -- The type of the body: an item and the results of a batch have versions, which are known after their publication.
  content text NOT NULL CHECK (content IN ('item', 'batch', 'other')),
  body bytea NOT NULL,
  -- The items whose texts the body contains.
  items uuid[] NOT NULL DEFAULT '{}',
  -- The versions of these items, as `{"id": [version, milliseconds of its time]}`. The body has those from before the
  -- publication, because the client writes it and must not keep other publishers waiting.
  published jsonb NOT NULL DEFAULT '{}'
);

CREATE INDEX idempotency_answers_by_age ON idempotency_answers (created_at);
CREATE INDEX idempotency_answers_by_item ON idempotency_answers USING gin (items) WITH (fastupdate = off);

-- Erases the stored answers that contain the texts of an item. Their requests remain known, so that a repetition still
-- has no effect.
CREATE FUNCTION erase_answers(item uuid) RETURNS void LANGUAGE sql VOLATILE AS $$
  UPDATE idempotency_answers AS a
    SET body_digest = NULL, headers = '{}', content = 'other', body = '', items = '{}', published = '{}'
    WHERE a.items @> ARRAY[item]
$$;

CREATE OR REPLACE FUNCTION forget_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM item_history WHERE item = OLD.id;
  PERFORM erase_answers(OLD.id);
  RETURN NULL;
END
$$;
