-- The devices that receive pushes. Nothing here says whose they are.

CREATE TABLE devices (
  -- A random id. Batches of devices are those after an id, so the ids of a provider or of a day must not lie together.
  id uuid PRIMARY KEY,
  -- SHA-256 of a secret of 256 random bits. No slower hash is needed against guessing.
  secret_digest bytea NOT NULL CHECK (octet_length(secret_digest) = 32),
  provider text NOT NULL CHECK (provider IN ('apns', 'fcm', 'webpush')),
  kind text NOT NULL CHECK (kind IN ('app', 'unifiedpush', 'browser')),
  -- The device token, the registration token, or the endpoint. It opens the device to whoever has it.
  address text NOT NULL,
  -- SHA-256 of provider, environment, app and address, by which an address is found again.
  address_digest bytea NOT NULL UNIQUE CHECK (octet_length(address_digest) = 32),
  -- The host of the endpoint; NULL for other providers.
  host text COLLATE "C",
  -- The keys of the receiver (RFC 8291); NULL for other providers.
  p256dh bytea,
  auth bytea,
  -- The bundle id of the app. Only APNs needs it, and has an environment.
  app text,
  environment text CHECK (environment IN ('production', 'sandbox')),
  -- NULL for the feed.
  topics text[] COLLATE "C" CHECK (cardinality(topics) > 0),
  -- In lower case; NULL for all languages.
  languages text[] COLLATE "C" CHECK (cardinality(languages) > 0),
  alerts boolean NOT NULL,
  -- A name of the IANA database; NULL for UTC.
  time_zone text,
  -- Minutes of the day in that zone.
  quiet_from integer CHECK (quiet_from BETWEEN 0 AND 1439),
  quiet_to integer CHECK (quiet_to BETWEEN 0 AND 1439),
  -- `pending` until the device has returned the code of its first push, which only Web Push requires.
  state text NOT NULL CHECK (state IN ('pending', 'active')),
  -- SHA-256 of the code; NULL before the first push. It stays, so that the device may repeat its request.
  confirmation bytea CHECK (octet_length(confirmation) = 32),
  created_at timestamptz NOT NULL,
  -- The last registration.
  registered_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- The last report of the news that the device has, and the push that it has named.
  reported_epoch text,
  reported_version bigint,
  reported_at timestamptz,
  reported_push uuid,
  -- The last refusal of the address, and the number of refusals since the last message that was accepted.
  token_error text,
  token_error_at timestamptz,
  token_errors bigint NOT NULL DEFAULT 0,
  CONSTRAINT devices_quiet_check CHECK ((quiet_from IS NULL) = (quiet_to IS NULL) AND quiet_from <> quiet_to),
  CONSTRAINT devices_keys_check CHECK (
    (provider = 'webpush') = (p256dh IS NOT NULL) AND (provider = 'webpush') = (auth IS NOT NULL)
    AND (provider = 'webpush') = (host IS NOT NULL)),
  CONSTRAINT devices_apns_check CHECK (
    (provider <> 'apns' OR app IS NOT NULL) AND (provider = 'apns') = (environment IS NOT NULL)),
  CONSTRAINT devices_report_check CHECK ((reported_epoch IS NULL) = (reported_version IS NULL))
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX devices_pending ON devices (host) WHERE state = 'pending';
CREATE INDEX devices_by_expiry ON devices (expires_at);

-- The end of the quiet hours in which a moment lies, in a time zone; NULL if it does not lie in quiet hours. The hours are
-- those of the local clock, also on a day on which it is moved. A time that the clock skips is that much later, and of a
-- time that it shows twice the second one counts (PostgreSQL, section 8.5.3).
--
-- A zone that the server does not know is one that it has known before: the device has no quiet hours then, and all others
-- are still served.
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
