// Made by scripts/embed from migrations/0006_subscriptions.sql; do not edit.
// swift-format-ignore-file

let migration0006 = #"""
-- Feeds: those that the servers follow, and those of this installation that they announce to a hub (WebSub, W3C
-- Recommendation, 23 January 2018).

------------------------------------------------------------------------------------------------------------------
-- Followed feeds
------------------------------------------------------------------------------------------------------------------

CREATE TABLE subscriptions (
  id uuid PRIMARY KEY,
  url text NOT NULL UNIQUE CHECK (octet_length(url) <= 2048),
  title text CHECK (octet_length(title) <= 1024),
  topics text[] NOT NULL DEFAULT '{}',
  state text NOT NULL CHECK (state IN ('draft', 'published')),
  language text,
  paused boolean NOT NULL DEFAULT false,
  user_name text CHECK (octet_length(user_name) <= 256),
  sealed_password bytea CHECK ((sealed_password IS NULL) = (user_name IS NULL)),
  revision bigint NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),

  next_poll timestamptz NOT NULL DEFAULT clock_timestamp(),
  not_before timestamptz CHECK (isfinite(not_before)),
  poll_wanted boolean NOT NULL DEFAULT false,
  lease uuid,
  leased_until timestamptz,
  last_success timestamptz,
  error_at timestamptz,
  error_status bigint,
  error_message text,
  failures bigint NOT NULL DEFAULT 0,
  etag text,
  last_modified text,
  pacing jsonb,
  new_items bigint NOT NULL DEFAULT 0,
  new_items_since timestamptz,
  losses jsonb,

  hubs text[] NOT NULL DEFAULT '{}',
  hub_topic text,
  pushed_at timestamptz,
  regular_poll timestamptz
);

COMMENT ON TABLE subscriptions IS
  'The external feeds that the servers follow. Polls write the columns from `next_poll` on, without a new revision.';
COMMENT ON COLUMN subscriptions.url IS 'The normal form of the address. A permanent redirect replaces it.';
COMMENT ON COLUMN subscriptions.topics IS
  'The topics of new items; without any, they are made from the categories of the feed.';
COMMENT ON COLUMN subscriptions.state IS 'The state of new items.';
COMMENT ON COLUMN subscriptions.language IS 'The language of entries that name none.';
COMMENT ON COLUMN subscriptions.user_name IS 'The user for HTTP Basic.';
COMMENT ON COLUMN subscriptions.sealed_password IS
  'The password with the origin that it is for, encrypted with a key from the settings.';
COMMENT ON COLUMN subscriptions.not_before IS
  'The end of the wait that the server of the feed has demanded (`Retry-After`).';
COMMENT ON COLUMN subscriptions.poll_wanted IS
  'Whether a poll was asked for. A poll that is under way may have read the feed before, so that another one follows
it.';
COMMENT ON COLUMN subscriptions.lease IS
  'The poll that is under way. If its process dies, another one may poll after this time.';
COMMENT ON COLUMN subscriptions.failures IS 'The number of failures since the last success.';
COMMENT ON COLUMN subscriptions.etag IS 'The validators of the last response.';
COMMENT ON COLUMN subscriptions.pacing IS 'The cadence of the feed, as its follower has written it.';
COMMENT ON COLUMN subscriptions.new_items IS
  'The number of new items since the start of a period of a day, in which it is bounded.';
COMMENT ON COLUMN subscriptions.losses IS
  'The losses of the last poll that has read the feed: its time, their number, the first messages.';
COMMENT ON COLUMN subscriptions.hubs IS
  'The hubs that the feed names, in its order, and the address under which they know the feed.';
COMMENT ON COLUMN subscriptions.pushed_at IS
  'The last notice of a hub. A poll that began before it may have missed the change.';
COMMENT ON COLUMN subscriptions.regular_poll IS
  'The time at which the next poll would be without a hub; NULL unless it is delayed because a hub notifies.';

CREATE INDEX subscriptions_due ON subscriptions (next_poll) WHERE NOT paused;

CREATE TABLE entry_names (
  name uuid PRIMARY KEY,
  item uuid
);

COMMENT ON TABLE entry_names IS
  'The names of entries that do not lead to the item with the id that is made from the name.';
COMMENT ON COLUMN entry_names.name IS 'The UUID that is made from the source and the name of the entry.';
COMMENT ON COLUMN entry_names.item IS
  'The item that was imported under another name of its entry. NULL if the name has named different entries: their
links identify them.';

------------------------------------------------------------------------------------------------------------------
-- Hubs
------------------------------------------------------------------------------------------------------------------

CREATE TABLE hub_leases (
  token text COLLATE "C" PRIMARY KEY CHECK (token ~ '^[A-Za-z0-9_-]{22}$'),
  subscription uuid REFERENCES subscriptions ON DELETE SET NULL,
  hub text NOT NULL,
  topic text NOT NULL,
  callback text NOT NULL,
  secret text NOT NULL,
  state text NOT NULL CHECK (state IN ('pending', 'active', 'ending')),
  asked_at timestamptz,
  confirmed_at timestamptz,
  awaited boolean NOT NULL DEFAULT false,
  expires_at timestamptz,
  next_request timestamptz NOT NULL,
  failures bigint NOT NULL DEFAULT 0,
  error text,
  lease uuid,
  leased_until timestamptz
);

COMMENT ON TABLE hub_leases IS
  'The leases at hubs. Each has a callback of its own, so that a hub cannot confuse the end of one with the beginning
of another.';
COMMENT ON COLUMN hub_leases.token IS 'The last part of the callback: 128 random bits in base64url.';
COMMENT ON COLUMN hub_leases.subscription IS 'NULL after the subscription was deleted.';
COMMENT ON COLUMN hub_leases.secret IS 'The key of the signatures of notices.';
COMMENT ON COLUMN hub_leases.state IS
  '`pending` until the hub has confirmed the lease, `ending` from the time at which it is not wanted any more.';
COMMENT ON COLUMN hub_leases.asked_at IS
  'The last request, and the last confirmation. A hub can confirm only what it was asked.';
COMMENT ON COLUMN hub_leases.awaited IS 'Whether the hub has accepted the last request and has not confirmed it.';
COMMENT ON COLUMN hub_leases.expires_at IS 'The end of the lease at the hub.';
COMMENT ON COLUMN hub_leases.failures IS 'The number of failures since the last confirmation, and the last of them.';
COMMENT ON COLUMN hub_leases.lease IS
  'The request that is under way. If its process dies, another one may send it again after this time.';

CREATE UNIQUE INDEX hub_leases_current ON hub_leases (subscription) WHERE state <> 'ending';
CREATE INDEX hub_leases_due ON hub_leases (next_request);

------------------------------------------------------------------------------------------------------------------
-- Announcements
------------------------------------------------------------------------------------------------------------------

CREATE TABLE announcing_hubs (
  hub text PRIMARY KEY,
  next_request timestamptz NOT NULL,
  failures bigint NOT NULL DEFAULT 0,
  lease uuid,
  leased_until timestamptz
);

COMMENT ON TABLE announcing_hubs IS 'The hubs to which changed feeds of this installation are announced.';
COMMENT ON COLUMN announcing_hubs.failures IS 'The number of failures since the last success.';
COMMENT ON COLUMN announcing_hubs.lease IS
  'The process that announces. If it dies, another one may announce after this time.';

CREATE TABLE announcements (
  hub text NOT NULL REFERENCES announcing_hubs ON DELETE CASCADE,
  url text NOT NULL,
  version bigint NOT NULL,
  failures bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (hub, url)
);

COMMENT ON TABLE announcements IS
  'The announcements of changed feeds. The log has the versions of the feeds, so that a publication writes nothing
here: a feed is announced until the version that was announced is its current one.';
COMMENT ON COLUMN announcements.url IS 'The address of the feed.';
COMMENT ON COLUMN announcements.version IS 'The version of its scope that was announced; 0 before the first.';
COMMENT ON COLUMN announcements.failures IS 'The number of refusals since the last success.';

"""#
