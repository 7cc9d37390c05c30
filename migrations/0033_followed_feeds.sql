-- Feeds are not trusted: neither the identifiers of their entries, nor their number. Their losses are reported.

-- The names of entries that do not lead to the item with the id that is made from the name.
CREATE TABLE entry_names (
  -- The UUID that is made from the source and the name of the entry.
  name uuid PRIMARY KEY,
  -- The item that was imported under another name of its entry. NULL if the name has named different entries: their
  -- links identify them.
  item uuid
);

ALTER TABLE subscriptions
  -- The number of new items since the start of a period of a day, in which it is bounded.
  ADD COLUMN new_items bigint NOT NULL DEFAULT 0,
  ADD COLUMN new_items_since timestamptz,
  -- The losses of the last poll that has read the feed: its time, their number, the first messages.
  ADD COLUMN losses jsonb,
  -- The user for HTTP Basic, and the password with the origin that it is for, encrypted with a key from the settings.
  ADD COLUMN user_name text CHECK (octet_length(user_name) <= 256),
  ADD COLUMN sealed_password bytea CHECK ((sealed_password IS NULL) = (user_name IS NULL));
