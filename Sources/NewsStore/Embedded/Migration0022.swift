// Made by scripts/embed from migrations/0022_websub.sql; do not edit.
// swift-format-ignore-file

let migration0022 = #"""
-- WebSub (W3C Recommendation, 23 January 2018) for the feeds that the servers follow: hubs notify of changes, and polls
-- become rare.

ALTER TABLE subscriptions
  -- The hubs that the feed names, in its order, and the address under which they know the feed.
  ADD COLUMN hubs text[] NOT NULL DEFAULT '{}',
  ADD COLUMN hub_topic text,
  -- The last notice of a hub. A poll that began before it may have missed the change.
  ADD COLUMN pushed_at timestamptz,
  -- The time at which the next poll would be without a hub; NULL unless it is delayed because a hub notifies.
  ADD COLUMN regular_poll timestamptz;

-- The leases at hubs. Each has a callback of its own, so that a hub cannot confuse the end of one with the beginning of
-- another.
CREATE TABLE hub_leases (
  -- The last part of the callback: 128 random bits in base64url.
  token text COLLATE "C" PRIMARY KEY CHECK (token ~ '^[A-Za-z0-9_-]{22}$'),
  -- NULL after the subscription was deleted.
  subscription uuid REFERENCES subscriptions ON DELETE SET NULL,
  hub text NOT NULL,
  topic text NOT NULL,
  callback text NOT NULL,
  -- The key of the signatures of notices.
  secret text NOT NULL,
  -- `pending` until the hub has confirmed the lease, `ending` from the time at which it is not wanted any more.
  state text NOT NULL CHECK (state IN ('pending', 'active', 'ending')),
  -- The last request, and the last confirmation. A hub can confirm only what it was asked.
  asked_at timestamptz,
  confirmed_at timestamptz,
  -- Whether the hub has accepted the last request and has not confirmed it.
  awaited boolean NOT NULL DEFAULT false,
  -- The end of the lease at the hub.
  expires_at timestamptz,
  next_request timestamptz NOT NULL,
  -- The number of failures since the last confirmation, and the last of them.
  failures bigint NOT NULL DEFAULT 0,
  error text,
  -- The request that is under way. If its process dies, another one may send it again after this time.
  lease uuid,
  leased_until timestamptz
);

CREATE UNIQUE INDEX hub_leases_current ON hub_leases (subscription) WHERE state <> 'ending';
CREATE INDEX hub_leases_due ON hub_leases (next_request);

"""#
