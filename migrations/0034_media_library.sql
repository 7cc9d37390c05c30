-- The library of files that the database has adopted, and the files that are to be removed from it.

-- The library whose folder belongs to this database; no row before the first start of a server. The folder has a copy of
-- the row. Files are accepted and removed only while both are equal and the row was written in this database: another
-- database has another row, and a restored dump or a copy of the database has the row but other oids.
--
-- The timeline is not compared, because the files remain those of the database after a promotion and after a
-- point-in-time restore.
CREATE TABLE media_library (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  -- A random id, which each adoption and `tidings epoch new` replace.
  id uuid NOT NULL,
  system_identifier text NOT NULL,
  database_oid bigint NOT NULL,
  -- The oid of `media`: a dump that is restored into its own database creates the table again.
  table_oid bigint NOT NULL,
  -- The time at which an operator adopted the folder; NULL for an adoption by a server.
  adopted_at timestamptz
);

-- The files that are to be removed, each from a time on. A file is removed for such a row only, never because rows are
-- missing:
--
-- - An upload adds a row before its file is put in place, due a day later. The registration of the file deletes the row.
-- - The deletion of a row of `media` adds a row that is due at once.
--
-- The bytes of a due file remain if a row of `media` has the same content.
CREATE TABLE media_removals (
  -- The id that the file had or was to have.
  media uuid PRIMARY KEY,
  sha256 bytea NOT NULL CHECK (octet_length(sha256) = 32),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  due_at timestamptz NOT NULL
);

CREATE INDEX media_removals_by_time ON media_removals (due_at);

CREATE FUNCTION note_media_removal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO media_removals (media, sha256, due_at) VALUES (OLD.id, OLD.sha256, clock_timestamp())
    ON CONFLICT (media) DO UPDATE SET created_at = clock_timestamp(), due_at = EXCLUDED.due_at;
  RETURN NULL;
END
$$;

CREATE TRIGGER media_deleted AFTER DELETE ON media FOR EACH ROW EXECUTE FUNCTION note_media_removal();

-- Deletes the rows of files that no item has used for an age, 0 to `most` of them. Returns the number of deleted rows;
-- 0 means that none is left.
--
-- The age counts from the latest point at which the database may have lost uses: a restore, a promotion, or the adoption
-- of a folder. Items that used the file may have been lost, and editors need time to write them again.
CREATE OR REPLACE FUNCTION forget_media(age interval, most integer DEFAULT 500) RETURNS integer LANGUAGE plpgsql AS $$
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
