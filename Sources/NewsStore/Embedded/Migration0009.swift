// Made by scripts/embed from migrations/0009_take_down.sql; do not edit.
// swift-format-ignore-file

let migration0009 = #"""
-- Taking down. Readers no longer get the files of a retracted item, and an editor can remove a file or erase the texts of
-- an item for good.

-- The uses of files by published items. One published item is enough for readers to get a file, and this table answers
-- whether there is one with a single look, however many items use the file.
CREATE TABLE media_publications (
  media uuid NOT NULL,
  item uuid NOT NULL,
  PRIMARY KEY (media, item)
);

CREATE INDEX media_publications_by_item ON media_publications (item);

-- The files that readers no longer get. A row stays until a published item uses the file; that of a removed file stays
-- for good, so that its address answers 410 and not 404.
CREATE TABLE withdrawn_media (
  media uuid PRIMARY KEY,
  -- The state of the item that used the file last, or `removed`.
  reason text NOT NULL CHECK (reason IN ('retracted', 'expired', 'removed'))
);

-- Maintains the uses of files, whatever writes the item. Locks come in one order: item, files by id, uses. A writer that
-- shows files to readers shares them with others like it; one that takes a use away has them alone, because it must see
-- the uses of all others. A file that is being removed is waited for and is then unknown.
CREATE OR REPLACE FUNCTION note_media_uses() RETURNS trigger LANGUAGE plpgsql AS $$
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

ALTER FUNCTION note_media_uses() SET enable_seqscan = off;
ALTER FUNCTION note_media_uses() SET enable_hashjoin = off;
ALTER FUNCTION note_media_uses() SET enable_mergejoin = off;

-- What is there already. Reading all uses takes long on a full database and needs no lock; only the changes that came in
-- the meantime are looked at while writers wait.
DO $$
DECLARE
  seen bigint;
  changed uuid[];
  touched uuid[];
BEGIN
  SELECT version INTO STRICT seen FROM scopes WHERE scope = '';
  INSERT INTO media_publications (media, item)
    SELECT u.media, u.item FROM media_uses AS u JOIN items AS i ON i.id = u.item WHERE i.state = 'published';
  INSERT INTO withdrawn_media (media, reason)
    SELECT DISTINCT ON (u.media) u.media, i.state FROM media_uses AS u JOIN items AS i ON i.id = u.item
      WHERE i.state IN ('retracted', 'expired')
        AND NOT EXISTS (SELECT 1 FROM media_publications AS p WHERE p.media = u.media)
      ORDER BY u.media, u.item DESC;

  -- When the item's texts were erased; NULL while it has them.
  ALTER TABLE items ADD COLUMN erased_at timestamptz;

  DROP TRIGGER items_updated_with_media ON items;
  CREATE TRIGGER items_updated_with_media AFTER UPDATE ON items FOR EACH ROW
    WHEN ((OLD.attachments, OLD.html, OLD.url, OLD.state) IS DISTINCT FROM
      (NEW.attachments, NEW.html, NEW.url, NEW.state))
    EXECUTE FUNCTION note_media_uses();

  -- Each of these changes took a version.
  changed := ARRAY(SELECT l.item FROM change_log AS l WHERE l.scope = '' AND l.version > seen);
  IF cardinality(changed) > 0 THEN
    touched := ARRAY(
      SELECT p.media FROM media_publications AS p WHERE p.item = ANY (changed)
      UNION SELECT u.media FROM media_uses AS u WHERE u.item = ANY (changed));
    DELETE FROM media_publications AS p WHERE p.item = ANY (changed);
    INSERT INTO media_publications (media, item)
      SELECT u.media, u.item FROM media_uses AS u JOIN items AS i ON i.id = u.item
        WHERE u.item = ANY (changed) AND i.state = 'published';
    DELETE FROM withdrawn_media AS w
      WHERE w.media = ANY (touched) AND EXISTS (SELECT 1 FROM media_publications AS p WHERE p.media = w.media);
    INSERT INTO withdrawn_media (media, reason)
      SELECT DISTINCT ON (u.media) u.media, i.state FROM media_uses AS u JOIN items AS i ON i.id = u.item
        WHERE u.media = ANY (touched) AND i.state IN ('retracted', 'expired')
          AND NOT EXISTS (SELECT 1 FROM media_publications AS p WHERE p.media = u.media)
        ORDER BY u.media, u.item DESC
      ON CONFLICT DO NOTHING;
  END IF;
END
$$;

"""#
