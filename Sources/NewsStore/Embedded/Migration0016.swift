// Made by scripts/embed from migrations/0016_keys.sql; do not edit.
// swift-format-ignore-file

let migration0016 = #"""
-- Keys that are restricted to topics, keys that expire, the last use of a key, and the replacement of its secret. The row
-- is the identity of a key, and outlasts its secrets.

ALTER TABLE api_keys
  -- The topics to which the key is restricted; NULL for no restriction. If all of them are deleted, the array is empty, and
  -- the key may write no item.
  ADD COLUMN topics text[] COLLATE "C",
  ADD COLUMN expires_at timestamptz,
  -- The secret before the last replacement, and the end of the time in which it works too.
  ADD COLUMN previous_digest bytea,
  ADD COLUMN previous_until timestamptz,
  ADD COLUMN used_at timestamptz,
  -- Such a key manages keys and other things without topics.
  ADD CONSTRAINT api_keys_topics_check CHECK (topics IS NULL OR NOT 'admin' = ANY (scopes)),
  -- The time that is left is computed.
  ADD CONSTRAINT api_keys_times_check CHECK (isfinite(expires_at) AND isfinite(previous_until)),
  ADD CONSTRAINT api_keys_previous_check CHECK ((previous_digest IS NULL) = (previous_until IS NULL));

-- A use changes nothing that processes remember.
DROP TRIGGER api_keys_notify ON api_keys;
CREATE TRIGGER api_keys_notify
  AFTER UPDATE OF name, scopes, digest, revoked_at, topics, expires_at, previous_digest, previous_until
    OR DELETE OR TRUNCATE ON api_keys
  FOR EACH STATEMENT EXECUTE FUNCTION notify_keys();

"""#
