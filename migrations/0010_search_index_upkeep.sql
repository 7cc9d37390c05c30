-- A cheaper search index.
--
-- New entries are collected in a list, and a writer who finds it full merges it into the index. Merging many entries at
-- once takes far less time for each, but longer for that writer. So the servers and imports merge the list regularly
-- beside the writes, and the list has room for what arrives meanwhile.
--
-- Statistics of search documents are not needed: the planner's choice between the plans of a search does not depend on
-- them. ANALYZE would parse the texts of 30,000 items, again and again while a table grows.

ALTER INDEX items_by_search_and_day SET (gin_pending_list_limit = 16384);
ALTER INDEX items_by_search_and_day ALTER COLUMN 1 SET STATISTICS 0;
