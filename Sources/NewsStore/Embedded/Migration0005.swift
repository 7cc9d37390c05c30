// Made by scripts/embed from migrations/0005_change_log_indexes.sql; do not edit.
// swift-format-ignore-file

let migration0005 = #"""
-- outside a transaction
--
-- Fills the sizes in the log, and builds indexes that contain all that a page of a list or of changes is made from.

CALL fill_change_log_sizes();

-- A publisher that began before the previous migration may still leave a row without sizes. The constraint waits for it
-- and refuses later ones.
ALTER TABLE change_log DROP CONSTRAINT IF EXISTS change_log_sizes;
ALTER TABLE change_log ADD CONSTRAINT change_log_sizes
  CHECK (NOT present OR (size IS NOT NULL AND html_size IS NOT NULL)) NOT VALID;
CALL fill_change_log_sizes();
ALTER TABLE change_log VALIDATE CONSTRAINT change_log_sizes;

-- For lists.
DROP INDEX CONCURRENTLY IF EXISTS change_log_lists;
CREATE INDEX CONCURRENTLY change_log_lists ON change_log (scope, date DESC, item DESC)
  INCLUDE (version, updated, digest, size, html_size) WHERE present;

-- For deltas and snapshots.
DROP INDEX CONCURRENTLY IF EXISTS change_log_deltas;
CREATE UNIQUE INDEX CONCURRENTLY change_log_deltas ON change_log (scope, version)
  INCLUDE (item, present, reason, date, updated, digest, size, html_size);

"""#
