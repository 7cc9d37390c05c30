-- The keys of editors, and the sessions of the console that they begin.

------------------------------------------------------------------------------------------------------------------
-- Keys
------------------------------------------------------------------------------------------------------------------

CREATE TABLE api_keys (
  id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  scopes text[] NOT NULL CHECK (
    scopes <@ ARRAY['items:write', 'items:publish', 'media:write', 'push:send', 'admin'] AND cardinality(scopes) > 0),
  topics text[] COLLATE "C",
  digest bytea NOT NULL,
  previous_digest bytea,
  previous_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz,
  used_at timestamptz,
  revoked_at timestamptz,
  CONSTRAINT api_keys_topics_check CHECK (topics IS NULL OR NOT 'admin' = ANY (scopes)),
  CONSTRAINT api_keys_times_check CHECK (isfinite(expires_at) AND isfinite(previous_until)),
  CONSTRAINT api_keys_previous_check CHECK ((previous_digest IS NULL) = (previous_until IS NULL))
);

COMMENT ON TABLE api_keys IS 'The keys of editors. The row is the identity of a key, and outlasts its secrets.';
COMMENT ON COLUMN api_keys.topics IS
  'The topics to which the key is restricted; NULL for no restriction. If all of them are deleted, the array is empty,
and the key may write no item.';
COMMENT ON COLUMN api_keys.digest IS 'SHA-256 of a key of 256 random bits. No slower hash is needed against guessing.';
COMMENT ON COLUMN api_keys.previous_digest IS
  'The secret before the last replacement, and the end of the time in which it works too.';
COMMENT ON CONSTRAINT api_keys_topics_check ON api_keys IS 'Such a key manages keys and other things without topics.';
COMMENT ON CONSTRAINT api_keys_times_check ON api_keys IS 'The time that is left is computed.';

CREATE FUNCTION notify_keys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('tidings', 'keys');
  RETURN NULL;
END
$$;

COMMENT ON FUNCTION notify_keys IS 'Notifies the processes that remember keys of each change by which one may end.';

CREATE TRIGGER api_keys_notify
  AFTER UPDATE OF name, scopes, digest, revoked_at, topics, expires_at, previous_digest, previous_until
    OR DELETE OR TRUNCATE ON api_keys
  FOR EACH STATEMENT EXECUTE FUNCTION notify_keys();

------------------------------------------------------------------------------------------------------------------
-- Sessions
------------------------------------------------------------------------------------------------------------------

CREATE TABLE console_sessions (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  digest bytea NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
  key text COLLATE "C" NOT NULL REFERENCES api_keys ON DELETE CASCADE,
  key_digest bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  used_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

COMMENT ON TABLE console_sessions IS
  'The sessions of the console. The secrets themselves are not stored: a copy of the database opens no session.';
COMMENT ON COLUMN console_sessions.digest IS
  'SHA-256 of a token of 256 random bits. No slower hash is needed against guessing.';
COMMENT ON COLUMN console_sessions.key_digest IS
  'The digest of the key''s secret with which the session began. The session ends with this secret.';
COMMENT ON COLUMN console_sessions.used_at IS 'The last use. It moves at most once a minute.';

CREATE INDEX console_sessions_by_key ON console_sessions (key);

CREATE TABLE console_links (
  digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
  key text COLLATE "C" NOT NULL REFERENCES api_keys ON DELETE CASCADE,
  key_digest bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

COMMENT ON TABLE console_links IS 'The links that begin a session once. A used link is deleted.';
COMMENT ON COLUMN console_links.key_digest IS 'The digest of the secret that the key had when the link was made.';

CREATE INDEX console_links_by_key ON console_links (key);

CREATE FUNCTION end_console_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM console_sessions AS s
    WHERE s.key = NEW.id AND (NEW.revoked_at IS NOT NULL
      OR s.key_digest NOT IN (NEW.digest, coalesce(NEW.previous_digest, NEW.digest)));
  DELETE FROM console_links AS s
    WHERE s.key = NEW.id AND (NEW.revoked_at IS NOT NULL
      OR s.key_digest NOT IN (NEW.digest, coalesce(NEW.previous_digest, NEW.digest)));
  RETURN NULL;
END
$$;

COMMENT ON FUNCTION end_console_sessions IS
  'Deletes the sessions and links of a key that is revoked, and those of a secret that the key no longer has.

Locks are acquired in one order: the key, then its sessions and links. Each transaction that deletes several of them
locks the key first, as this update does.';

CREATE TRIGGER api_keys_end_sessions AFTER UPDATE OF revoked_at, digest, previous_digest ON api_keys
  FOR EACH ROW EXECUTE FUNCTION end_console_sessions();
