// Made by scripts/embed from migrations/0021_subscription_polls.sql; do not edit.
// swift-format-ignore-file

let migration0021 = #"""
-- Polls that are asked for, and the time before which the server of a feed asks for none.

ALTER TABLE subscriptions
  -- The end of the wait that the server of the feed has demanded (`Retry-After`).
  ADD COLUMN not_before timestamptz CHECK (isfinite(not_before)),
  -- Whether a poll was asked for. A poll that is under way may have read the feed before, so that another one follows it.
  ADD COLUMN poll_wanted boolean NOT NULL DEFAULT false;

"""#
