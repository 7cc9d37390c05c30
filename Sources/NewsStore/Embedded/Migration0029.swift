// Made by scripts/embed from migrations/0029_topics_of_devices.sql; do not edit.
// swift-format-ignore-file

let migration0029 = #"""
-- A device keeps its registration when the last topic that it follows is deleted. It then follows nothing: NULL would be the
-- whole feed.
ALTER TABLE devices DROP CONSTRAINT devices_topics_check;

"""#
