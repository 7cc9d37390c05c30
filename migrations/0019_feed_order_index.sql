-- outside a transaction
--
-- Numbers the items that were published before the previous migration, by the time of their creation, and builds the index
-- of archives.

CREATE TABLE IF NOT EXISTS publications_to_number AS
  SELECT row_number() OVER () AS n, o.* FROM (
    SELECT l.scope, l.item, row_number() OVER (PARTITION BY l.scope ORDER BY i.created_at, i.id) AS ordinal
      FROM change_log AS l JOIN items AS i ON i.id = l.item
      WHERE l.present AND l.ordinal IS NULL
  ) AS o;
CREATE UNIQUE INDEX IF NOT EXISTS publications_to_number_by_n ON publications_to_number (n);

CALL number_publications();

DROP INDEX CONCURRENTLY IF EXISTS change_log_archives;
CREATE INDEX CONCURRENTLY change_log_archives ON change_log (scope, ordinal) WHERE present;
