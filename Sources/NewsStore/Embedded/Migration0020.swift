// Made by scripts/embed from migrations/0020_feed_order_complete.sql; do not edit.
// swift-format-ignore-file

let migration0020 = #"""
-- The migration before has used these, and would need them again if it were repeated.
DROP PROCEDURE number_publications();
DROP TABLE publications_to_number;

"""#
