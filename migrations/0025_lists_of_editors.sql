-- outside a transaction
--
-- Indexes for the lists of editors, which count the items of all states and filter them by topics and dates.

-- For topics that few items have, and keys that are restricted to such topics. A write inserts its few entries at once:
-- with a list of pending ones, each search would read that list.
DROP INDEX CONCURRENTLY IF EXISTS items_by_topics;
CREATE INDEX CONCURRENTLY items_by_topics ON items USING gin (topics) WITH (fastupdate = off);

-- For lists sorted by the last write, like the index that it replaces. The filters and the counts read no row besides the
-- index, whose time PostgreSQL only uses for this if it also has the columns of the expression. The condition, which is
-- always true, keeps look-ups of an id, which do not name a state, from reading this whole index: it costs no more while
-- the table is small, and plans are kept.
DROP INDEX CONCURRENTLY IF EXISTS items_by_write;
CREATE INDEX CONCURRENTLY items_by_write ON items (
  state, (milliseconds(coalesce(written_at, created_at))) DESC, id DESC)
  INCLUDE (topics, date, written_at, created_at) WHERE state IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS items_by_state;
