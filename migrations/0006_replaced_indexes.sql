-- outside a transaction
--
-- Removes what the previous migration has replaced, in a file of its own: repeated after a failure, that one would build
-- its indexes again while no other existed.

DROP INDEX CONCURRENTLY IF EXISTS change_log_by_date;
DROP INDEX CONCURRENTLY IF EXISTS change_log_by_version;
DROP PROCEDURE IF EXISTS fill_change_log_sizes();
