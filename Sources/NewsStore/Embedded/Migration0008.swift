// Made by scripts/embed from migrations/0008_webhooks.sql; do not edit.
// swift-format-ignore-file

let migration0008 = #"""
-- Webhooks, and what they are owed.

CREATE TABLE webhooks (
  id uuid PRIMARY KEY,
  url text NOT NULL,
  host text NOT NULL GENERATED ALWAYS AS (regexp_replace(split_part(url, '/', 3), ':[0-9]+$', '')) STORED,
  events text[] NOT NULL CHECK (cardinality(events) > 0),
  topics text[] COLLATE "C",
  secret text NOT NULL,
  previous_secret text,
  previous_until timestamptz,
  paused boolean NOT NULL DEFAULT false,
  disabled_reason text CHECK (disabled_reason IN ('gone', 'failing')),
  revision bigint NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  last_success timestamptz,
  failing_since timestamptz,
  not_before timestamptz,
  CONSTRAINT webhooks_previous_check CHECK ((previous_secret IS NULL) = (previous_until IS NULL)),
  CONSTRAINT webhooks_disabled_check CHECK (paused OR disabled_reason IS NULL)
);

COMMENT ON TABLE webhooks IS
  'The programs that receive a signed request for each change of an item (Standard Webhooks 1.0).';
COMMENT ON COLUMN webhooks.url IS 'The address in its normal form.';
COMMENT ON COLUMN webhooks.host IS 'The host of the address without its port. A host receives one request at a time.';
COMMENT ON COLUMN webhooks.events IS 'The types of events, such as `item.changed`.';
COMMENT ON COLUMN webhooks.topics IS
  'The topics of the items; NULL for all items. If all of the topics are deleted, the array is empty, and no event
fits.';
COMMENT ON COLUMN webhooks.secret IS
  'The key of signatures, as its receiver has it: `whsec_` and base64. Unlike the digest of an API key, it is needed
to sign.';
COMMENT ON COLUMN webhooks.previous_secret IS
  'The secret before the last rotation, and the end of the time in which it signs too.';
COMMENT ON COLUMN webhooks.disabled_reason IS
  'The reason for which the server has paused the webhook; NULL if an editor has.';
COMMENT ON COLUMN webhooks.failing_since IS 'The first failure since the last success.';
COMMENT ON COLUMN webhooks.not_before IS
  'The time before which the receiver asks for no request at all (`Retry-After`).';

CREATE TABLE webhook_deliveries (
  id uuid PRIMARY KEY,
  webhook uuid NOT NULL REFERENCES webhooks ON DELETE CASCADE,
  event text NOT NULL,
  at timestamptz NOT NULL,
  item uuid,
  version bigint,
  token text,
  topics text[] COLLATE "C",
  url text,
  created_at timestamptz NOT NULL,
  state text NOT NULL CHECK (state IN ('due', 'delivered', 'failed')),
  due_at timestamptz,
  lease uuid,
  attempts bigint NOT NULL DEFAULT 0,
  failures bigint NOT NULL DEFAULT 0,
  CONSTRAINT webhook_deliveries_item_check CHECK (num_nulls(item, version, token, topics) IN (0, 4)),
  CONSTRAINT webhook_deliveries_due_check CHECK ((state = 'due') = (due_at IS NOT NULL)),
  CONSTRAINT webhook_deliveries_lease_check CHECK (lease IS NULL OR state = 'due')
);

COMMENT ON TABLE webhook_deliveries IS
  'One row for each event and webhook, which stays for 30 days as a log. It has no texts of the item.';
COMMENT ON COLUMN webhook_deliveries.id IS 'The value of `webhook-id`, the same in all attempts.';
COMMENT ON COLUMN webhook_deliveries.event IS 'The type of the event and its time.';
COMMENT ON COLUMN webhook_deliveries.item IS
  'The item, its version, the token of the feed at this version, and the topics whose lists have changed; NULL for a
test. There is no foreign key, because the rows are written after the item, which may be deleted meanwhile.';
COMMENT ON COLUMN webhook_deliveries.url IS 'The address of the item''s JSON; NULL without a public address.';
COMMENT ON COLUMN webhook_deliveries.due_at IS
  'The time of the next attempt. A lease sets it to its own end, so that the lease of a dead process ends by
itself.';
COMMENT ON COLUMN webhook_deliveries.lease IS 'The attempt that is under way.';
COMMENT ON COLUMN webhook_deliveries.attempts IS
  'The number of attempts, and the number of failures since the creation or the last replay.';

CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook, due_at, version) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_leased ON webhook_deliveries (webhook) WHERE lease IS NOT NULL;
CREATE INDEX webhook_deliveries_log ON webhook_deliveries (webhook, created_at, id);
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (created_at);
CREATE INDEX webhook_deliveries_by_item ON webhook_deliveries (item);

CREATE TABLE webhook_attempts (
  delivery uuid NOT NULL REFERENCES webhook_deliveries ON DELETE CASCADE,
  number bigint NOT NULL,
  at timestamptz NOT NULL,
  status bigint,
  milliseconds bigint NOT NULL,
  error text,
  PRIMARY KEY (delivery, number)
);

COMMENT ON TABLE webhook_attempts IS 'The attempts to deliver an event.';
COMMENT ON COLUMN webhook_attempts.number IS 'The number of the attempt, from 1.';
COMMENT ON COLUMN webhook_attempts.status IS 'The status of the response; NULL without one.';
COMMENT ON COLUMN webhook_attempts.error IS 'The reason of a failure, in words.';

CREATE FUNCTION forget_webhook_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM webhook_deliveries AS d
    WHERE d.item = OLD.id
      AND NOT (TG_OP = 'UPDATE' AND d.state = 'due' AND d.event IN ('item.retracted', 'item.expired'));
  RETURN NULL;
END
$$;

COMMENT ON FUNCTION forget_webhook_log IS
  'Deletes the log of an item that is erased or deleted. An erased item is retracted, and receivers that do not know
it yet are still notified; the outcome of the last attempt then deletes the row.';

CREATE TRIGGER items_forget_webhook_log AFTER UPDATE OF erased_at ON items
  FOR EACH ROW WHEN (NEW.erased_at IS NOT NULL AND OLD.erased_at IS NULL) EXECUTE FUNCTION forget_webhook_log();
CREATE TRIGGER items_forget_webhook_log_at_end AFTER DELETE ON items
  FOR EACH ROW EXECUTE FUNCTION forget_webhook_log();

"""#
