// Made by scripts/embed from migrations/0030_refusals_and_merged_topics.sql; do not edit.
// swift-format-ignore-file

let migration0030 = #"""
-- Whether the push service has accepted a message to the present address of the device. Anyone can register an address that
-- its service refuses, so only a refusal of a device with `accepted` says something about our keys. Devices from before this
-- column count as accepted, because a wrong environment must not go unnoticed.
ALTER TABLE devices ADD COLUMN accepted boolean NOT NULL DEFAULT true;
ALTER TABLE devices ALTER COLUMN accepted SET DEFAULT false;

-- The first failure of a message that is still owed, because its service did not answer or has failed; NULL for none. Each
-- attempt moves `due_at`, which therefore does not say how late the message is.
ALTER TABLE deliveries ADD COLUMN failing_since timestamptz;
ALTER TABLE alert_deliveries ADD COLUMN failing_since timestamptz;

-- The last answer that refused the keys of the server, or the messages of all devices so far; NULL if the service has accepted
-- a message since.
ALTER TABLE push_providers ADD COLUMN refusal text;
ALTER TABLE push_providers ADD COLUMN refused_at timestamptz;
ALTER TABLE push_providers ADD CONSTRAINT push_providers_refusal_check CHECK ((refusal IS NULL) = (refused_at IS NULL));

-- The topics into which deleted ones were merged. A device that renews its registration may not know of it yet.
CREATE TABLE topic_merges (
  slug text COLLATE "C" PRIMARY KEY,
  -- Not a foreign key, so that topics can still be truncated by hand.
  other text COLLATE "C" NOT NULL
);
CREATE INDEX topic_merges_by_other ON topic_merges (other);

"""#
