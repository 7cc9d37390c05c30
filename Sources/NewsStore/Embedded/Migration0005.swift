// Made by scripts/embed from migrations/0005_media.sql; do not edit.
// swift-format-ignore-file

let migration0005 = #"""
-- The files of items: their metadata and uses, uploads, and the removal of files.

------------------------------------------------------------------------------------------------------------------
-- Files and their uses
------------------------------------------------------------------------------------------------------------------

CREATE TABLE media (
  id uuid PRIMARY KEY,
  sha256 bytea NOT NULL CHECK (octet_length(sha256) = 32),
  type text NOT NULL,
  bytes bigint NOT NULL CHECK (bytes > 0),
  width integer CHECK (width > 0),
  height integer CHECK (height > 0),
  name text CHECK (octet_length(name) BETWEEN 1 AND 255),
  created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  used_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT media_sha256_type_key UNIQUE (sha256, type)
);

COMMENT ON TABLE media IS
  'The metadata of uploaded files. Their bytes are stored outside the database, by the digest of their content.';
COMMENT ON COLUMN media.id IS
  'The id is not derived from the content. Otherwise anyone with a copy of a file could find out that the newsroom has
it.';
COMMENT ON COLUMN media.name IS 'The suggested file name for downloads.';
COMMENT ON COLUMN media.used_at IS 'The time of the last upload, or of the last end of a use by an item.';
COMMENT ON CONSTRAINT media_sha256_type_key ON media IS
  'The same bytes may be audio for one editor and video for another. The type of an address never changes.';

CREATE INDEX media_by_use ON media (used_at);

CREATE TABLE media_uses (
  media uuid NOT NULL REFERENCES media (id),
  item uuid NOT NULL,
  PRIMARY KEY (media, item)
);

COMMENT ON TABLE media_uses IS
  'The uses of files by items in any state. `item` has no foreign key: a TRUNCATE of items would then fail for that
key, and not for the reason that refuse_truncate() gives.';

CREATE INDEX media_uses_by_item ON media_uses (item);

CREATE TABLE media_publications (
  media uuid NOT NULL,
  item uuid NOT NULL,
  PRIMARY KEY (media, item)
);

COMMENT ON TABLE media_publications IS
  'The uses of files by published items. Readers get a file while one published item uses it. A single lookup answers
whether there is one, however many items use the file.';

CREATE INDEX media_publications_by_item ON media_publications (item);

CREATE TABLE withdrawn_media (
  media uuid PRIMARY KEY,
  reason text NOT NULL CHECK (reason IN ('retracted', 'expired', 'removed'))
);

COMMENT ON TABLE withdrawn_media IS
  'The files that readers no longer get. A row is deleted once a published item uses the file again. The row of a
removed file is permanent, so that its address answers 410 and not 404.';
COMMENT ON COLUMN withdrawn_media.reason IS 'The state of the item that used the file last, or `removed`.';

CREATE FUNCTION media_in(attachments jsonb, html text, url text) RETURNS uuid[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
  SELECT coalesce(array_agg(DISTINCT found[1]::uuid), '{}')
  FROM regexp_matches(
    concat_ws(' ', attachments::text, html, url),
    '/v1/media/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})', 'gi') AS found
);

COMMENT ON FUNCTION media_in IS
  'The ids of the files whose addresses occur in an item, with any host name. A text that only looks like an address
keeps a file for longer. A missed address would delete a file that is in use.';

CREATE FUNCTION note_media_uses() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
  wanted uuid[] := '{}';
  known uuid[] := '{}';
  released uuid[] := '{}';
  hidden uuid[] := '{}';
  is_public boolean := false;
BEGIN
  IF TG_OP <> 'DELETE' THEN
    wanted := media_in(NEW.attachments, NEW.html, NEW.url);
    is_public := NEW.state = 'published';
  END IF;
  IF TG_OP <> 'INSERT' THEN
    released := ARRAY(SELECT u.media FROM media_uses AS u WHERE u.item = OLD.id AND u.media <> ALL (wanted));
    hidden := ARRAY(
      SELECT p.media FROM media_publications AS p WHERE p.item = OLD.id AND (NOT is_public OR p.media <> ALL (wanted)));
  END IF;
  IF TG_OP <> 'DELETE' THEN
    IF NEW.state IN ('retracted', 'expired') THEN
      hidden := hidden || wanted;
    END IF;
  END IF;

  IF cardinality(released) + cardinality(hidden) > 0 THEN
    PERFORM 1 FROM media AS m WHERE m.id = ANY (released || hidden) ORDER BY m.id FOR NO KEY UPDATE;
  END IF;
  IF cardinality(wanted) > 0 THEN
    IF is_public THEN
      known := ARRAY(SELECT m.id FROM media AS m WHERE m.id = ANY (wanted) ORDER BY m.id FOR SHARE);
      INSERT INTO media_publications (media, item) SELECT unnest(known), NEW.id ON CONFLICT DO NOTHING;
      DELETE FROM withdrawn_media AS w WHERE w.media = ANY (known);
    ELSE
      known := ARRAY(SELECT m.id FROM media AS m WHERE m.id = ANY (wanted) ORDER BY m.id FOR KEY SHARE);
    END IF;
    INSERT INTO media_uses (media, item) SELECT unnest(known), NEW.id ON CONFLICT DO NOTHING;
  END IF;

  IF cardinality(released) > 0 THEN
    DELETE FROM media_uses AS u WHERE u.item = OLD.id AND u.media = ANY (released);
    UPDATE media AS m SET used_at = clock_timestamp() WHERE m.id = ANY (released);
  END IF;
  IF cardinality(hidden) > 0 THEN
    IF TG_OP <> 'INSERT' THEN
      DELETE FROM media_publications AS p WHERE p.item = OLD.id AND p.media = ANY (hidden);
    END IF;
    INSERT INTO withdrawn_media (media, reason)
      SELECT m.id, last.state
        FROM media AS m CROSS JOIN LATERAL (
          SELECT i.state FROM media_uses AS u JOIN items AS i ON i.id = u.item
            WHERE u.media = m.id AND i.state IN ('retracted', 'expired') ORDER BY u.item DESC LIMIT 1
        ) AS last
        WHERE m.id = ANY (hidden) AND NOT EXISTS (SELECT 1 FROM media_publications AS p WHERE p.media = m.id)
      ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END
$$;

COMMENT ON FUNCTION note_media_uses IS
  'Maintains media_uses, media_publications and withdrawn_media after any write of an item.

Locks are acquired in one order: the item, files by id, uses. A writer that publishes files shares their locks with
other such writers. A writer that ends a use locks the files exclusively, because it must see the uses of all others.
A file that is being removed is waited for and is unknown afterwards.

All lookups are by key, so the planner settings leave only such plans.';

CREATE TRIGGER items_inserted_with_media AFTER INSERT ON items FOR EACH ROW
  WHEN (NEW.attachments <> '[]' OR NEW.html LIKE '%/media/%' OR NEW.url LIKE '%/media/%')
  EXECUTE FUNCTION note_media_uses();
CREATE TRIGGER items_updated_with_media AFTER UPDATE ON items FOR EACH ROW
  WHEN ((OLD.attachments, OLD.html, OLD.url, OLD.state) IS DISTINCT FROM
    (NEW.attachments, NEW.html, NEW.url, NEW.state))
  EXECUTE FUNCTION note_media_uses();
CREATE TRIGGER items_deleted_with_media AFTER DELETE ON items FOR EACH ROW EXECUTE FUNCTION note_media_uses();

------------------------------------------------------------------------------------------------------------------
-- Uploads
------------------------------------------------------------------------------------------------------------------

CREATE TABLE media_uploads (
  id uuid PRIMARY KEY,
  api_key text COLLATE "C" NOT NULL REFERENCES api_keys ON DELETE CASCADE,
  type text NOT NULL,
  name text CHECK (octet_length(name) BETWEEN 1 AND 255),
  sha256 bytea CHECK (octet_length(sha256) = 32),
  length bigint CHECK (length > 0),
  received bigint NOT NULL DEFAULT 0 CHECK (received >= 0),
  media uuid,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL
);

COMMENT ON TABLE media_uploads IS
  'Uploads of files that continue over several requests. Their bytes are in the folder of files, as `part-ID`.';
COMMENT ON COLUMN media_uploads.api_key IS 'The key that has begun the upload, and that alone may continue it.';
COMMENT ON COLUMN media_uploads.type IS 'The media type that the sender declares.';
COMMENT ON COLUMN media_uploads.sha256 IS 'The SHA-256 digest that the sender declares.';
COMMENT ON COLUMN media_uploads.length IS 'The number of bytes that the sender declares.';
COMMENT ON COLUMN media_uploads.received IS 'The number of bytes that are on disk.';
COMMENT ON COLUMN media_uploads.media IS
  'The registered file; NULL until the upload is complete. The row stays, so that a sender that has missed the
response can ask for it.';
COMMENT ON COLUMN media_uploads.expires_at IS 'The time after which the upload is removed. Each progress postpones it.';

CREATE INDEX media_uploads_by_key ON media_uploads (api_key) WHERE media IS NULL;
CREATE INDEX media_uploads_by_expiry ON media_uploads (expires_at);

------------------------------------------------------------------------------------------------------------------
-- The library of files
------------------------------------------------------------------------------------------------------------------

CREATE TABLE media_library (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  id uuid NOT NULL,
  system_identifier text NOT NULL,
  database_oid bigint NOT NULL,
  table_oid bigint NOT NULL,
  adopted_at timestamptz
);

COMMENT ON TABLE media_library IS
  'The library whose folder belongs to this database; no row before the first start of a server. The folder has a copy
of the row. Files are accepted and removed only while both are equal and the row was written in this database: another
database has another row, and a restored dump or a copy of the database has the row but other oids.

The timeline is not compared, because the files remain those of the database after a promotion and after a
point-in-time restore.';
COMMENT ON COLUMN media_library.id IS 'A random id, which each adoption and `tidings epoch new` replace.';
COMMENT ON COLUMN media_library.table_oid IS
  'The oid of `media`: a dump that is restored into its own database creates the table again.';
COMMENT ON COLUMN media_library.adopted_at IS
  'The time at which an operator adopted the folder; NULL for an adoption by a server.';

CREATE TABLE media_removals (
  media uuid PRIMARY KEY,
  sha256 bytea NOT NULL CHECK (octet_length(sha256) = 32),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  due_at timestamptz NOT NULL
);

COMMENT ON TABLE media_removals IS
  'The files that are to be removed, each from a time on. A file is removed for such a row only, never because rows
are missing:

- An upload adds a row before its file is put in place, due a day later. The registration of the file deletes the row.
- The deletion of a row of `media` adds a row that is due at once.

The bytes of a due file remain if a row of `media` has the same content.';
COMMENT ON COLUMN media_removals.media IS 'The id that the file had or was to have.';

CREATE INDEX media_removals_by_time ON media_removals (due_at);

CREATE FUNCTION note_media_removal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO media_removals (media, sha256, due_at) VALUES (OLD.id, OLD.sha256, clock_timestamp())
    ON CONFLICT (media) DO UPDATE SET created_at = clock_timestamp(), due_at = EXCLUDED.due_at;
  RETURN NULL;
END
$$;

COMMENT ON FUNCTION note_media_removal IS 'Has the file of a deleted row removed.';

CREATE TRIGGER media_deleted AFTER DELETE ON media FOR EACH ROW EXECUTE FUNCTION note_media_removal();

CREATE FUNCTION forget_media(age interval, most integer DEFAULT 500) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  unused uuid[];
  forgotten integer;
  settled timestamptz := greatest(
    (SELECT max(e.created_at) FROM epochs AS e WHERE e.number > 1 AND e.starts_after > 0),
    (SELECT l.adopted_at FROM media_library AS l));
BEGIN
  IF settled >= clock_timestamp() - age THEN
    RETURN 0;
  END IF;
  SELECT array_agg(chosen.id) INTO unused FROM (
    SELECT m.id FROM media AS m
      WHERE m.used_at < clock_timestamp() - age AND NOT EXISTS (SELECT 1 FROM media_uses AS u WHERE u.media = m.id)
      ORDER BY m.used_at LIMIT most FOR UPDATE SKIP LOCKED
  ) AS chosen;
  -- With the rows locked, no new use can begin, and this statement sees all earlier ones.
  DELETE FROM media AS m
    WHERE m.id = ANY (unused) AND m.used_at < clock_timestamp() - age
      AND NOT EXISTS (SELECT 1 FROM media_uses AS u WHERE u.media = m.id);
  GET DIAGNOSTICS forgotten = ROW_COUNT;
  RETURN forgotten;
END
$$;

COMMENT ON FUNCTION forget_media IS
  'Deletes the rows of files that no item has used for an age, 0 to `most` of them. Returns the number of deleted
rows; 0 means that none is left.

The age counts from the latest point at which the database may have lost uses: a restore, a promotion, or the adoption
of a folder. Items that used the file may have been lost, and editors need time to write them again.';

"""#
