-- A device keeps its registration when the last topic that it follows is deleted. It then follows nothing: NULL would be the
-- whole feed.
ALTER TABLE devices DROP CONSTRAINT devices_topics_check;
