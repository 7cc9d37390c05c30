// Made by scripts/embed from migrations/0015_subscriptions.sql; do not edit.
// swift-format-ignore-file

let migration0015 = #"""
-- The external feeds that the servers follow.

CREATE TABLE subscriptions (
  id uuid PRIMARY KEY,
  -- The normal form of the address. A permanent redirect replaces it.
  url text NOT NULL UNIQUE CHECK (octet_length(url) <= 2048),
  title text CHECK (octet_length(title) <= 1024),
  -- The topics of new items; without any, they are made from the categories of the feed.
  topics text[] NOT NULL DEFAULT '{}',
  -- The state of new items.
  state text NOT NULL CHECK (state IN ('draft', 'published')),
  -- The language of entries that name none.
  language text,
  paused boolean NOT NULL DEFAULT false,
  revision bigint NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),

  -- Polls write the following columns, without a new revision.
  next_poll timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- The poll that is under way. If its process dies, another one may poll after this time.
  lease uuid,
  leased_until timestamptz,
  last_success timestamptz,
  error_at timestamptz,
  error_status bigint,
  error_message text,
  -- The number of failures since the last success.
  failures bigint NOT NULL DEFAULT 0,
  -- The validators of the last response.
  etag text,
  last_modified text,
  -- The cadence of the feed, as its follower has written it.
  pacing jsonb
);

CREATE INDEX subscriptions_due ON subscriptions (next_poll) WHERE NOT paused;

"""#
