-- The files of items, and the keys of editors.

------------------------------------------------------------------------------------------------------------------
-- Files
------------------------------------------------------------------------------------------------------------------

-- The metadata of uploaded files. Their bytes are stored outside the database, by the digest of their content.
CREATE TABLE media (
  -- The id is not derived from the content. Otherwise anyone with a copy of a file could find out that the newsroom has
  -- it.
  id uuid PRIMARY KEY,
  sha256 bytea NOT NULL CHECK (octet_length(sha256) = 32),
  type text NOT NULL,
  bytes bigint NOT NULL CHECK (bytes > 0),
  width integer CHECK (width > 0),
  height integer CHECK (height > 0),
  -- The suggested file name for downloads.
  name text CHECK (octet_length(name) BETWEEN 1 AND 255),
  created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  -- The time of the last upload, or of the last end of a use by an item.
  used_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- The same bytes may be audio for one editor and video for another. The type of an address never changes.
  UNIQUE (sha256, type)
);

CREATE INDEX media_by_use ON media (used_at);

-- The uses of files by items in any state. `item` has no foreign key: a TRUNCATE of items would then fail for that key,
-- and not for the reason that refuse_truncate() gives.
CREATE TABLE media_uses (
  media uuid NOT NULL REFERENCES media (id),
  item uuid NOT NULL,
  PRIMARY KEY (media, item)
);

CREATE INDEX media_uses_by_item ON media_uses (item);

-- The uses of files by published items. Readers get a file while one published item uses it. A single lookup answers
-- whether there is one, however many items use the file.
CREATE TABLE media_publications (
  media uuid NOT NULL,
  item uuid NOT NULL,
  PRIMARY KEY (media, item)
);

CREATE INDEX media_publications_by_item ON media_publications (item);

-- The files that readers no longer get. A row is deleted once a published item uses the file again. The row of a
-- removed file is permanent, so that its address answers 410 and not 404.
CREATE TABLE withdrawn_media (
  media uuid PRIMARY KEY,
  -- The state of the item that used the file last, or `removed`.
  reason text NOT NULL CHECK (reason IN ('retracted', 'expired', 'removed'))
);

-- The ids of the files whose addresses occur in an item, with any host name. A text that only looks like an address
-- keeps a file for longer. A missed address would delete a file that is in use.
CREATE FUNCTION media_in(attachments jsonb, html text, url text) RETURNS uuid[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
  SELECT coalesce(array_agg(DISTINCT found[1]::uuid), '{}')
  FROM regexp_matches(
    concat_ws(' ', attachments::text, html, url),
    '/v1/media/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})', 'gi') AS found
);

-- Maintains media_uses, media_publications and withdrawn_media after any write of an item.
--
-- Locks are acquired in one order: the item, files by id, uses. A writer that publishes files shares their locks with
-- other such writers. A writer that ends a use locks the files exclusively, because it must see the uses of all others.
-- A file that is being removed is waited for and is unknown afterwards.
--
-- All lookups are by key, so the planner settings leave only such plans.
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

CREATE TRIGGER items_inserted_with_media AFTER INSERT ON items FOR EACH ROW
  WHEN (NEW.attachments <> '[]' OR NEW.html LIKE '%/media/%' OR NEW.url LIKE '%/media/%')
  EXECUTE FUNCTION note_media_uses();
CREATE TRIGGER items_updated_with_media AFTER UPDATE ON items FOR EACH ROW
  WHEN ((OLD.attachments, OLD.html, OLD.url, OLD.state) IS DISTINCT FROM
    (NEW.attachments, NEW.html, NEW.url, NEW.state))
  EXECUTE FUNCTION note_media_uses();
CREATE TRIGGER items_deleted_with_media AFTER DELETE ON items FOR EACH ROW EXECUTE FUNCTION note_media_uses();

-- Deletes the rows of files that no item has used for an age, 0 to `most` of them. Returns the number of deleted rows;
-- 0 means that none is left.
CREATE FUNCTION forget_media(age interval, most integer DEFAULT 500) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  unused uuid[];
  forgotten integer;
BEGIN
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

------------------------------------------------------------------------------------------------------------------
-- Keys of editors
------------------------------------------------------------------------------------------------------------------

CREATE TABLE api_keys (
  id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  scopes text[] NOT NULL CHECK (scopes <@ ARRAY['items:write', 'media:write', 'admin'] AND cardinality(scopes) > 0),
  -- SHA-256 of a key of 256 random bits. No slower hash is needed against guessing.
  digest bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  revoked_at timestamptz
);
