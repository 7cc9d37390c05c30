// Made by scripts/embed from migrations/0024_console_sessions.sql; do not edit.
// swift-format-ignore-file

let migration0024 = #"""
-- The sessions of the console, and the links that begin them. The secrets themselves are not stored: a copy of the
-- database opens no session.

CREATE TABLE console_sessions (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  -- SHA-256 of a token of 256 random bits. No slower hash is needed against guessing.
  digest bytea NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
  key text COLLATE "C" NOT NULL REFERENCES api_keys ON DELETE CASCADE,
  -- The digest of the key's secret with which the session began. The session ends with this secret.
  key_digest bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- The last use. It moves at most once a minute.
  used_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX console_sessions_by_key ON console_sessions (key);

-- The links that begin a session once. A used link is deleted.
CREATE TABLE console_links (
  digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
  key text COLLATE "C" NOT NULL REFERENCES api_keys ON DELETE CASCADE,
  -- The digest of the secret that the key had when the link was made.
  key_digest bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX console_links_by_key ON console_links (key);

-- Deletes the sessions and links of a key that is revoked, and those of a secret that the key no longer has.
--
-- Locks are acquired in one order: the key, then its sessions and links. Each transaction that deletes several of them locks
-- the key first, as this update does.
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

CREATE TRIGGER api_keys_end_sessions AFTER UPDATE OF revoked_at, digest, previous_digest ON api_keys
  FOR EACH ROW EXECUTE FUNCTION end_console_sessions();

"""#
