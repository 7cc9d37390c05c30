// Made by scripts/embed from migrations/0031_media_uploads.sql; do not edit.
// swift-format-ignore-file

let migration0031 = #"""
-- Uploads of files that continue over several requests. Their bytes are in the folder of files, as `part-ID`.

CREATE TABLE media_uploads (
  id uuid PRIMARY KEY,
  -- The key that has begun the upload, and that alone may continue it.
  api_key text COLLATE "C" NOT NULL REFERENCES api_keys ON DELETE CASCADE,
  -- The media type that the sender declares.
  type text NOT NULL,
  name text CHECK (octet_length(name) BETWEEN 1 AND 255),
  -- The SHA-256 digest that the sender declares.
  sha256 bytea CHECK (octet_length(sha256) = 32),
  -- The number of bytes that the sender declares.
  length bigint CHECK (length > 0),
  -- The number of bytes that are on disk.
  received bigint NOT NULL DEFAULT 0 CHECK (received >= 0),
  -- The registered file; NULL until the upload is complete. The row stays, so that a sender that has missed the response
  -- can ask for it.
  media uuid,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- The time after which the upload is removed. Each progress postpones it.
  expires_at timestamptz NOT NULL
);

CREATE INDEX media_uploads_by_key ON media_uploads (api_key) WHERE media IS NULL;
CREATE INDEX media_uploads_by_expiry ON media_uploads (expires_at);

"""#
