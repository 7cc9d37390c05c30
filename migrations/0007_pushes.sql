-- Devices, and the pushes that are made from the outbox after a publication.

------------------------------------------------------------------------------------------------------------------
-- Devices
------------------------------------------------------------------------------------------------------------------

CREATE TABLE devices (
  id uuid PRIMARY KEY,
  secret_digest bytea NOT NULL CHECK (octet_length(secret_digest) = 32),
  provider text NOT NULL CHECK (provider IN ('apns', 'fcm', 'webpush')),
  kind text NOT NULL CHECK (kind IN ('app', 'unifiedpush', 'browser')),
  address text NOT NULL,
  address_digest bytea NOT NULL UNIQUE CHECK (octet_length(address_digest) = 32),
  host text COLLATE "C",
  p256dh bytea,
  auth bytea,
  app text,
  environment text CHECK (environment IN ('production', 'sandbox')),
  topics text[] COLLATE "C",
  languages text[] COLLATE "C" CHECK (cardinality(languages) > 0),
  alerts boolean NOT NULL,
  time_zone text,
  quiet_from integer CHECK (quiet_from BETWEEN 0 AND 1439),
  quiet_to integer CHECK (quiet_to BETWEEN 0 AND 1439),
  state text NOT NULL CHECK (state IN ('pending', 'active')),
  confirmation bytea CHECK (octet_length(confirmation) = 32),
  created_at timestamptz NOT NULL,
  registered_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  reported_epoch text,
  reported_version bigint,
  reported_at timestamptz,
  reported_push uuid,
  token_error text,
  token_error_at timestamptz,
  token_errors bigint NOT NULL DEFAULT 0,
  accepted boolean NOT NULL DEFAULT false,
  network cidr,
  CONSTRAINT devices_quiet_check CHECK ((quiet_from IS NULL) = (quiet_to IS NULL) AND quiet_from <> quiet_to),
  CONSTRAINT devices_keys_check CHECK (
    (provider = 'webpush') = (p256dh IS NOT NULL) AND (provider = 'webpush') = (auth IS NOT NULL)
    AND (provider = 'webpush') = (host IS NOT NULL)),
  CONSTRAINT devices_apns_check CHECK (
    (provider <> 'apns' OR app IS NOT NULL) AND (provider = 'apns') = (environment IS NOT NULL)),
  CONSTRAINT devices_report_check CHECK ((reported_epoch IS NULL) = (reported_version IS NULL))
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);

COMMENT ON TABLE devices IS 'The devices that receive pushes. Nothing here says whose they are.';
COMMENT ON COLUMN devices.id IS
  'A random id. Batches of devices are those after an id, so the ids of a provider or of a day must not lie together.';
COMMENT ON COLUMN devices.secret_digest IS
  'SHA-256 of a secret of 256 random bits. No slower hash is needed against guessing.';
COMMENT ON COLUMN devices.address IS
  'The device token, the registration token, or the endpoint. It opens the device to whoever has it.';
COMMENT ON COLUMN devices.address_digest IS
  'SHA-256 of provider, environment, app and address, by which an address is found again.';
COMMENT ON COLUMN devices.host IS 'The host of the endpoint; NULL for other providers.';
COMMENT ON COLUMN devices.p256dh IS 'The keys of the receiver (RFC 8291); NULL for other providers.';
COMMENT ON COLUMN devices.app IS 'The bundle id of the app. Only APNs needs it, and has an environment.';
COMMENT ON COLUMN devices.topics IS
  'NULL for the feed. When the last topic that the device follows is deleted, the array is empty, and it follows
nothing.';
COMMENT ON COLUMN devices.languages IS 'In lower case; NULL for all languages.';
COMMENT ON COLUMN devices.time_zone IS 'A name of the IANA database; NULL for UTC.';
COMMENT ON COLUMN devices.quiet_from IS 'Minutes of the day in that zone.';
COMMENT ON COLUMN devices.state IS
  '`pending` until the device has returned the code of its first push, which only Web Push requires.';
COMMENT ON COLUMN devices.confirmation IS
  'SHA-256 of the code; NULL before the first push. It stays, so that the device may repeat its request.';
COMMENT ON COLUMN devices.registered_at IS 'The last registration.';
COMMENT ON COLUMN devices.reported_epoch IS
  'The last report of the news that the device has, and the push that it has named.';
COMMENT ON COLUMN devices.token_error IS
  'The last refusal of the address, and the number of refusals since the last message that was accepted.';
COMMENT ON COLUMN devices.accepted IS
  'Whether the push service has accepted a message to the present address of the device. Anyone can register an
address that its service refuses, so only a refusal of a device with `accepted` says something about our keys.';
COMMENT ON COLUMN devices.network IS
  'The network of a client that has registered a pending device: 24 bits of an IPv4 address, 64 of an IPv6 address.
Registrations of one network replace each other when a push service has too many that are pending. It is deleted as
soon as the device has returned its code, or with the device after an hour.';

CREATE INDEX devices_pending ON devices (host) WHERE state = 'pending';
CREATE INDEX devices_by_expiry ON devices (expires_at);

CREATE FUNCTION quiet_until(moment timestamptz, zone text, quiet_from integer, quiet_to integer)
RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
DECLARE
  here timestamp;
  minute integer;
BEGIN
  IF quiet_from IS NULL OR quiet_to IS NULL THEN
    RETURN NULL;
  END IF;
  here := moment AT TIME ZONE coalesce(zone, 'UTC');
  minute := extract(hour FROM here)::integer * 60 + extract(minute FROM here)::integer;
  IF quiet_from < quiet_to AND minute NOT BETWEEN quiet_from AND quiet_to - 1
    OR quiet_from > quiet_to AND minute BETWEEN quiet_to AND quiet_from - 1 THEN
    RETURN NULL;
  END IF;
  RETURN greatest(
    (here::date + CASE WHEN minute < quiet_to THEN 0 ELSE 1 END + make_interval(mins => quiet_to))
      AT TIME ZONE coalesce(zone, 'UTC'),
    moment + interval '1 second');
EXCEPTION WHEN invalid_parameter_value THEN
  RETURN NULL;
END
$$;

COMMENT ON FUNCTION quiet_until IS
  'The end of the quiet hours in which a moment lies, in a time zone; NULL if it does not lie in quiet hours. The
hours are those of the local clock, also on a day on which it is moved. A time that the clock skips is that much
later, and of a time that it shows twice the second one counts (PostgreSQL, section 8.5.3).

A zone that the server does not know is one that it has known before: the device has no quiet hours then, and all
others are still served.';

------------------------------------------------------------------------------------------------------------------
-- Pushes
------------------------------------------------------------------------------------------------------------------

CREATE TABLE item_alerts (
  item uuid PRIMARY KEY,
  editor text,
  requested_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'released', 'cancelled')),
  push uuid,
  CONSTRAINT item_alerts_push_check CHECK (state <> 'released' OR push IS NOT NULL)
);

COMMENT ON TABLE item_alerts IS
  'The requests of editors for alerts. An item has one, ever, so that no edit and no retry can repeat it. A trigger
deletes it with the item.';
COMMENT ON COLUMN item_alerts.state IS
  '`waiting` until the item is published, `cancelled` if it was taken down before or after.';
COMMENT ON COLUMN item_alerts.push IS 'The alert.';

CREATE TABLE pushes (
  id uuid PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('silent', 'alert', 'retraction')),
  item uuid,
  epoch text NOT NULL,
  version bigint NOT NULL,
  scopes text[] COLLATE "C" NOT NULL,
  content jsonb,
  created_at timestamptz NOT NULL,
  starts_at timestamptz NOT NULL,
  fan_out_started_at timestamptz,
  last_device uuid,
  fanned_out_at timestamptz,
  cancelled_at timestamptz,
  audience bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

COMMENT ON TABLE pushes IS 'The pushes of the last 30 days, each to many devices.';
COMMENT ON COLUMN pushes.item IS
  'The newest item. Items have no foreign key here, because a publication must not wait for pushes.';
COMMENT ON COLUMN pushes.epoch IS
  'The version that a device has if it need not be woken. Versions are comparable within one epoch only.';
COMMENT ON COLUMN pushes.scopes IS 'The topics with changes. Devices that follow the feed are in each audience.';
COMMENT ON COLUMN pushes.content IS
  'The visible part: title, body, url, language, breaking. NULL for other pushes, and after the item was erased.';
COMMENT ON COLUMN pushes.starts_at IS 'The end of the time in which further changes join a silent push.';
COMMENT ON COLUMN pushes.last_device IS 'The last device of the last batch; NULL before the first.';
COMMENT ON COLUMN pushes.audience IS 'The number of devices so far.';

CREATE UNIQUE INDEX pushes_collecting ON pushes (kind) WHERE kind = 'silent' AND fan_out_started_at IS NULL;
COMMENT ON INDEX pushes_collecting IS 'One silent push collects the changes of all processes until it starts.';

CREATE INDEX pushes_active ON pushes (starts_at) WHERE fanned_out_at IS NULL;
CREATE INDEX pushes_by_age ON pushes (created_at, id);
CREATE INDEX pushes_by_item ON pushes (item);

CREATE TABLE push_results (
  push uuid PRIMARY KEY REFERENCES pushes ON DELETE CASCADE,
  sent bigint NOT NULL DEFAULT 0,
  refused bigint NOT NULL DEFAULT 0,
  gone bigint NOT NULL DEFAULT 0,
  dropped bigint NOT NULL DEFAULT 0,
  reports bigint NOT NULL DEFAULT 0,
  woke bigint NOT NULL DEFAULT 0,
  found_news bigint NOT NULL DEFAULT 0,
  last_sent_at timestamptz
) WITH (fillfactor = 50);

COMMENT ON TABLE push_results IS
  'The outcomes of the messages of a push. They are a table of their own because the fan-out locks rows of `pushes`,
which must delay no record of outcomes.';

CREATE TABLE push_providers (
  provider text PRIMARY KEY CHECK (provider IN ('apns', 'fcm', 'webpush')),
  paused_until timestamptz,
  reason text,
  pauses bigint NOT NULL DEFAULT 0,
  changed_at timestamptz NOT NULL,
  refusal text,
  refused_at timestamptz,
  CONSTRAINT push_providers_refusal_check CHECK ((refusal IS NULL) = (refused_at IS NULL))
);

COMMENT ON TABLE push_providers IS
  'The push services that are paused, because they refuse too many addresses, and those that refuse the keys of the
server.';
COMMENT ON COLUMN push_providers.paused_until IS 'NULL if it is not paused.';
COMMENT ON COLUMN push_providers.pauses IS 'The number of pauses since the last success.';
COMMENT ON COLUMN push_providers.refusal IS
  'The last answer that refused the keys of the server, or the messages of all devices so far; NULL if the service has
accepted a message since.';

------------------------------------------------------------------------------------------------------------------
-- Deliveries
------------------------------------------------------------------------------------------------------------------

CREATE TABLE deliveries (
  device uuid PRIMARY KEY,
  provider text NOT NULL,
  push uuid,
  due_at timestamptz,
  lease uuid,
  attempts bigint NOT NULL DEFAULT 0,
  sent timestamptz[] NOT NULL DEFAULT '{}',
  next_at timestamptz,
  failing_since timestamptz
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

COMMENT ON TABLE deliveries IS
  'The silent push that a device is owed. It has one row, so that it is owed one at most: a later push takes the place
of an earlier one. Devices have no foreign key here, because its checks would double the cost of a batch and have it
wait for registrations. A row of a device that is gone is deleted with the next leases.';
COMMENT ON COLUMN deliveries.push IS
  'The push; NULL if none is owed, and for the first push of a pending device, which carries its code.';
COMMENT ON COLUMN deliveries.due_at IS
  'The time at which the message may be sent; NULL if none is owed. A lease sets it to its own end, so that
the lease of a dead process ends by itself.';
COMMENT ON COLUMN deliveries.lease IS 'The lease of the process that sends the message.';
COMMENT ON COLUMN deliveries.attempts IS 'The number of failures of this message.';
COMMENT ON COLUMN deliveries.sent IS 'The times of the messages of the last hour, oldest first.';
COMMENT ON COLUMN deliveries.next_at IS
  'The time at which a push may be sent that has taken the place of a leased one; NULL for any time.';
COMMENT ON COLUMN deliveries.failing_since IS
  'The first failure of a message that is still owed, because its service did not answer or has failed; NULL for none.
Each attempt moves `due_at`, which therefore does not say how late the message is.';

CREATE INDEX deliveries_due ON deliveries (provider, due_at) WHERE due_at IS NOT NULL;

CREATE TABLE alert_deliveries (
  device uuid NOT NULL,
  push uuid NOT NULL,
  provider text NOT NULL,
  due_at timestamptz NOT NULL,
  lease uuid,
  attempts bigint NOT NULL DEFAULT 0,
  failing_since timestamptz,
  PRIMARY KEY (device, push)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

COMMENT ON TABLE alert_deliveries IS 'The alerts that devices are owed. A row is deleted when it is done.';
COMMENT ON COLUMN alert_deliveries.failing_since IS 'As in `deliveries`.';

CREATE INDEX alert_deliveries_due ON alert_deliveries (provider, due_at);

CREATE FUNCTION forget_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM deliveries AS d USING removed AS r WHERE d.device = r.id;
  DELETE FROM alert_deliveries AS d USING removed AS r WHERE d.device = r.id;
  RETURN NULL;
END
$$;

COMMENT ON FUNCTION forget_deliveries IS 'Deletes what removed devices are owed.';

CREATE TRIGGER devices_forget_deliveries AFTER DELETE ON devices
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION forget_deliveries();

CREATE FUNCTION forget_alerts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE pushes SET content = NULL WHERE item = OLD.id AND content IS NOT NULL;
  IF TG_OP = 'DELETE' THEN
    DELETE FROM item_alerts WHERE item = OLD.id;
  END IF;
  RETURN NULL;
END
$$;

COMMENT ON FUNCTION forget_alerts IS
  'Erases the texts of alerts for an item that is erased, and with a deleted item the request too. The outbox has no
texts.';

CREATE TRIGGER items_forget_alerts AFTER UPDATE OF erased_at ON items
  FOR EACH ROW WHEN (NEW.erased_at IS NOT NULL AND OLD.erased_at IS NULL) EXECUTE FUNCTION forget_alerts();
CREATE TRIGGER items_forget_alerts_at_end AFTER DELETE ON items
  FOR EACH ROW EXECUTE FUNCTION forget_alerts();
