// Made by scripts/embed from migrations/0028_webhooks.sql; do not edit.
// swift-format-ignore-file

let migration0028 = #"""
-- Webhooks: programs that receive a signed request for each change of an item (Standard Webhooks 1.0).

CREATE TABLE webhooks (
  id uuid PRIMARY KEY,
  -- The address in its normal form.
  url text NOT NULL,
  -- The host of the address without its port. A host receives one request at a time.
  host text NOT NULL GENERATED ALWAYS AS (regexp_replace(split_part(url, '/', 3), ':[0-9]+$', '')) STORED,
  -- The types of events, such as `item.changed`.
  events text[] NOT NULL CHECK (cardinality(events) > 0),
  -- The topics of the items; NULL for all items. If all of the topics are deleted, the array is empty, and no event
  -- fits.
  topics text[] COLLATE "C",
  -- The key of signatures, as its receiver has it: `whsec_` and base64. Unlike the digest of an API key, it is needed
  -- to sign.
  secret text NOT NULL,
  -- The secret before the last rotation, and the end of the time in which it signs too.
  previous_secret text,
  previous_until timestamptz,
  paused boolean NOT NULL DEFAULT false,
  -- The reason for which the server has paused the webhook; NULL if an editor has.
  disabled_reason text CHECK (disabled_reason IN ('gone', 'failing')),
  revision bigint NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  last_success timestamptz,
  -- The first failure since the last success.
  failing_since timestamptz,
  -- The time before which the receiver asks for no request at all (`Retry-After`).
  not_before timestamptz,
  CONSTRAINT webhooks_previous_check CHECK ((previous_secret IS NULL) = (previous_until IS NULL)),
  CONSTRAINT webhooks_disabled_check CHECK (paused OR disabled_reason IS NULL)
);

-- One row for each event and webhook, which stays for 30 days as a log. It has no texts of the item.
CREATE TABLE webhook_deliveries (
  -- The value of `webhook-id`, the same in all attempts.
  id uuid PRIMARY KEY,
  webhook uuid NOT NULL REFERENCES webhooks ON DELETE CASCADE,
  -- The type of the event and its time.
  event text NOT NULL,
  at timestamptz NOT NULL,
  -- The item, its version, the token of the feed at this version, and the topics whose lists have changed; NULL for a
  -- test. There is no foreign key, because the rows are written after the item, which may be deleted meanwhile.
  item uuid,
  version bigint,
  token text,
  topics text[] COLLATE "C",
  -- The address of the item's JSON; NULL without a public address.
  url text,
  created_at timestamptz NOT NULL,
  state text NOT NULL CHECK (state IN ('due', 'delivered', 'failed')),
  -- The time of the next attempt. A claim sets it to the end of its lease, so that the claim of a dead process ends by
  -- itself.
  due_at timestamptz,
  -- The attempt that is under way.
  claim uuid,
  -- The number of attempts, and the number of failures since the creation or the last replay.
  attempts bigint NOT NULL DEFAULT 0,
  failures bigint NOT NULL DEFAULT 0,
  CONSTRAINT webhook_deliveries_item_check CHECK (num_nulls(item, version, token, topics) IN (0, 4)),
  CONSTRAINT webhook_deliveries_due_check CHECK ((state = 'due') = (due_at IS NOT NULL)),
  CONSTRAINT webhook_deliveries_claim_check CHECK (claim IS NULL OR state = 'due')
);

CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook, due_at, version) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_claimed ON webhook_deliveries (webhook) WHERE claim IS NOT NULL;
CREATE INDEX webhook_deliveries_log ON webhook_deliveries (webhook, created_at, id);
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (created_at);
CREATE INDEX webhook_deliveries_by_item ON webhook_deliveries (item);

CREATE TABLE webhook_attempts (
  delivery uuid NOT NULL REFERENCES webhook_deliveries ON DELETE CASCADE,
  -- The number of the attempt, from 1.
  number bigint NOT NULL,
  at timestamptz NOT NULL,
  -- The status of the response; NULL without one.
  status bigint,
  milliseconds bigint NOT NULL,
  -- The reason of a failure, in words.
  error text,
  PRIMARY KEY (delivery, number)
);

-- Deletes the log of an item that is erased or deleted. An erased item is retracted, and receivers that do not know it
-- yet are still notified; the outcome of the last attempt then deletes the row.
CREATE FUNCTION forget_webhook_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM webhook_deliveries AS d
    WHERE d.item = OLD.id
      AND NOT (TG_OP = 'UPDATE' AND d.state = 'due' AND d.event IN ('item.retracted', 'item.expired'));
  RETURN NULL;
END
$$;

CREATE TRIGGER items_forget_webhook_log AFTER UPDATE OF erased_at ON items
  FOR EACH ROW WHEN (NEW.erased_at IS NOT NULL AND OLD.erased_at IS NULL) EXECUTE FUNCTION forget_webhook_log();
CREATE TRIGGER items_forget_webhook_log_at_end AFTER DELETE ON items
  FOR EACH ROW EXECUTE FUNCTION forget_webhook_log();

"""#
