// Made by scripts/embed from migrations/0007_media.sql; do not edit.
// swift-format-ignore-file

let migration0007 = #"""
-- Files that belong to items. Their bytes are stored elsewhere, by the digest of their content; here is what they are
-- known by, and who uses them.

CREATE TABLE media (
  -- Random, and not made of the content: an address must not tell somebody who has the same file that it is here too.
  id uuid PRIMARY KEY,
  sha256 bytea NOT NULL CHECK (octet_length(sha256) = 32),
  type text NOT NULL,
  bytes bigint NOT NULL CHECK (bytes > 0),
  width integer CHECK (width > 0),
  height integer CHECK (height > 0),
  -- What it is to be called when it is saved.
  name text CHECK (octet_length(name) BETWEEN 1 AND 255),
  created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  -- When it was last uploaded, or an item let go of it.
  used_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- The same bytes may be a sound for one and a film for another, and each address has one type for ever.
  UNIQUE (sha256, type)
);

CREATE INDEX media_by_use ON media (used_at);

-- `item` refers to no row by a constraint, for a TRUNCATE of items would then fail before it is refused for its reason.
CREATE TABLE media_uses (
  media uuid NOT NULL REFERENCES media (id),
  item uuid NOT NULL,
  PRIMARY KEY (media, item)
);

CREATE INDEX media_uses_by_item ON media_uses (item);

-- The files that an item speaks of, under whatever name of the server. To take a text for a use that is none keeps a
-- file for longer; the other way round it would be lost.
CREATE FUNCTION media_in(attachments jsonb, html text, url text) RETURNS uuid[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
  SELECT coalesce(array_agg(DISTINCT found[1]::uuid), '{}')
  FROM regexp_matches(
    concat_ws(' ', attachments::text, html, url),
    '/v1/media/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})', 'gi') AS found
);

-- Keeps `media_uses`, whoever writes the item. A file that is being forgotten is waited for, and then is not there.
CREATE FUNCTION note_media_uses() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  wanted uuid[] := '{}';
BEGIN
  IF TG_OP <> 'DELETE' THEN
    wanted := media_in(NEW.attachments, NEW.html, NEW.url);
    INSERT INTO media_uses (media, item)
      SELECT known.id, NEW.id
        FROM (SELECT id FROM media WHERE id = ANY (wanted) ORDER BY id FOR KEY SHARE) AS known
      ON CONFLICT DO NOTHING;
  END IF;
  IF TG_OP <> 'INSERT' THEN
    WITH gone AS (
      DELETE FROM media_uses WHERE item = OLD.id AND media <> ALL (wanted) RETURNING media
    )
    UPDATE media SET used_at = clock_timestamp() FROM gone WHERE media.id = gone.media;
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER items_inserted_with_media AFTER INSERT ON items FOR EACH ROW
  WHEN (NEW.attachments <> '[]' OR NEW.html LIKE '%/media/%' OR NEW.url LIKE '%/media/%')
  EXECUTE FUNCTION note_media_uses();
CREATE TRIGGER items_updated_with_media AFTER UPDATE ON items FOR EACH ROW
  WHEN ((OLD.attachments, OLD.html, OLD.url) IS DISTINCT FROM (NEW.attachments, NEW.html, NEW.url))
  EXECUTE FUNCTION note_media_uses();
CREATE TRIGGER items_deleted_with_media AFTER DELETE ON items FOR EACH ROW EXECUTE FUNCTION note_media_uses();

-- Forgets files that no item has used for a time, 0 to `most` of them. Returns how many: 0 means that none is left.
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
  -- Now that the rows are locked, nobody can begin to use them; who did so before is seen by this statement.
  DELETE FROM media AS m
    WHERE m.id = ANY (unused) AND m.used_at < clock_timestamp() - age
      AND NOT EXISTS (SELECT 1 FROM media_uses AS u WHERE u.media = m.id);
  GET DIAGNOSTICS forgotten = ROW_COUNT;
  RETURN forgotten;
END
$$;

"""#
