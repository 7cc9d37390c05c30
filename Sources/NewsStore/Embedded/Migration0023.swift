// Made by scripts/embed from migrations/0023_announcements.sql; do not edit.
// swift-format-ignore-file

let migration0023 = #"""
-- The announcements of changed feeds to the hub of this installation. The log has the versions of the feeds, so that a
-- publication writes nothing here: a feed is announced until the version that was announced is its current one.

CREATE TABLE announcing_hubs (
  hub text PRIMARY KEY,
  next_request timestamptz NOT NULL,
  -- The number of failures since the last success.
  failures bigint NOT NULL DEFAULT 0,
  -- The process that announces. If it dies, another one may announce after this time.
  lease uuid,
  leased_until timestamptz
);

CREATE TABLE announcements (
  hub text NOT NULL REFERENCES announcing_hubs ON DELETE CASCADE,
  -- The address of the feed.
  url text NOT NULL,
  -- The version of its scope that was announced; 0 before the first.
  version bigint NOT NULL,
  -- The number of refusals since the last success.
  failures bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (hub, url)
);

"""#
