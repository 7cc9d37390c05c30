-- outside a transaction
--
-- Fills the log, and builds the indexes of states, schedules and breaking news.

CALL fill_change_log_breaking();

ALTER TABLE items VALIDATE CONSTRAINT items_state_check;
ALTER TABLE items VALIDATE CONSTRAINT items_schedule;
ALTER TABLE items VALIDATE CONSTRAINT items_published_date;

-- The items whose time comes.
DROP INDEX CONCURRENTLY IF EXISTS items_to_publish;
CREATE INDEX CONCURRENTLY items_to_publish ON items (publish_at) WHERE state = 'scheduled';
DROP INDEX CONCURRENTLY IF EXISTS items_to_expire;
CREATE INDEX CONCURRENTLY items_to_expire ON items (expire_at) WHERE state = 'published' AND expire_at IS NOT NULL;

-- For lists of editors, sorted by the last write. The condition, which is always true, keeps look-ups of an id, which do
-- not name a state, from reading this whole index: it costs no more while the table is small, and plans are kept.
DROP INDEX CONCURRENTLY IF EXISTS items_by_state;
CREATE INDEX CONCURRENTLY items_by_state ON items (
  state, (milliseconds(coalesce(written_at, created_at))) DESC, id DESC) WHERE state IS NOT NULL;

-- For lists of breaking news.
DROP INDEX CONCURRENTLY IF EXISTS change_log_breaking;
CREATE INDEX CONCURRENTLY change_log_breaking ON change_log (scope, date DESC, item DESC)
  INCLUDE (version, updated, digest, size, html_size) WHERE present AND breaking;
