// Made by scripts/embed from migrations/0001_items_and_log.sql; do not edit.
// swift-format-ignore-file

let migration0001 = #"""
-- The feed: items, topics, the log of changes, and publish(), the only writer of versions.
--
-- Every statement below runs in one transaction, under the runner's advisory lock. Applied files are never edited:
-- the runner keeps their checksums and stops when one has changed.

------------------------------------------------------------------------------------------------------------------
-- Digests
------------------------------------------------------------------------------------------------------------------

-- What a reader can see of an item, as 16 bytes: equal digests mean an edit that no reader would notice. The JSON
-- array keeps NULL and '' apart and quotes separators. It is IMMUTABLE, which jsonb_build_array() as such is not,
-- because no argument is of a type whose text depends on a setting.
CREATE FUNCTION item_digest(
  date_ms bigint, title text, summary text, text text, html text, topics text[], language text, url text,
  author text, breaking boolean, attachments jsonb
) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT substr(sha256(convert_to(jsonb_build_array(
    date_ms, title, summary, text, html, to_jsonb(topics), language, url, author, breaking, attachments)::text,
    'UTF8')), 1, 16)
$$;

-- Milliseconds since 1970, the resolution in which dates are stored and sent. extract() is STABLE for timestamptz
-- because of its time zone fields; the epoch has none.
CREATE FUNCTION milliseconds(moment timestamptz) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
  SELECT (extract(epoch FROM moment) * 1000)::bigint
$$;

-- The bytes of a text as JSON, with its quotes and escapes. to_json() is STABLE for the sake of types whose text
-- depends on a setting; text does not.
CREATE FUNCTION json_size(value text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(octet_length(to_json(value)::text), 0)
$$;

-- 700 bytes cover the names of all fields and those of fixed length.
CREATE FUNCTION item_size(
  title text, summary text, text text, topics text[], url text, author text, attachments jsonb
) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT 700 + json_size(title) + json_size(summary) + json_size(text) + json_size(url) + json_size(author)
    + octet_length(array_to_string(topics, '","')) + octet_length(attachments::text)
$$;

------------------------------------------------------------------------------------------------------------------
-- Scopes and topics
------------------------------------------------------------------------------------------------------------------

-- The state of what a reader can follow: the feed (scope '') and each topic (scope = its slug). The row of the feed
-- is the counter: publish() locks it last and holds it to the commit, so versions are commit order without gaps.
-- Only publish(), begin_epoch() and the purge write here.
CREATE TABLE scopes (
  scope text COLLATE "C" PRIMARY KEY CHECK (scope ~ '^([a-z0-9-]{1,64})?$'),
  -- The version of the last change in the scope, 0 before the first. Tokens carry nine digits of base 36.
  version bigint NOT NULL DEFAULT 0 CHECK (version BETWEEN 0 AND 101559956668415),
  changed_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  -- When an item last left the scope or changed a field that lists filter or sort by: a page of it may then have
  -- changed without any of its items having been updated.
  shifted_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  -- Tombstones up to this version are purged: a token below it has expired.
  floor bigint NOT NULL DEFAULT 0 CHECK (floor >= 0),
  items bigint NOT NULL DEFAULT 0 CHECK (items >= 0)
) WITH (fillfactor = 50);

INSERT INTO scopes (scope) VALUES ('');

CREATE TABLE topics (
  slug text COLLATE "C" PRIMARY KEY REFERENCES scopes (scope) CHECK (slug <> ''),
  titles jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(titles) = 'object'),
  position integer NOT NULL DEFAULT 0,
  revision bigint NOT NULL DEFAULT 1,
  updated timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp())
);

------------------------------------------------------------------------------------------------------------------
-- Items
------------------------------------------------------------------------------------------------------------------

CREATE TABLE items (
  id uuid PRIMARY KEY,
  state text NOT NULL CHECK (state IN ('draft', 'scheduled', 'published', 'retracted', 'expired')),
  revision bigint NOT NULL DEFAULT 1,

  -- Public columns.
  date timestamptz NOT NULL CHECK (date = date_trunc('milliseconds', date)),
  title text CHECK (octet_length(title) <= 1024),
  summary text,
  text text NOT NULL CHECK (octet_length(text) <= 262144),
  html text,
  topics text[] COLLATE "C" NOT NULL DEFAULT '{}' CHECK (cardinality(topics) <= 16 AND array_ndims(topics) IS DISTINCT FROM 2),
  language text,
  url text,
  author text,
  breaking boolean NOT NULL DEFAULT false,
  attachments jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(attachments) = 'array'),

  -- Computed once per write, compared by publish() and by the trigger below.
  digest bytea NOT NULL GENERATED ALWAYS AS (item_digest(
    milliseconds(date), title, summary, text, html, topics, language, url, author, breaking, attachments)) STORED,
  -- What the item adds to a page of JSON without `html`, in bytes and at most.
  size integer NOT NULL GENERATED ALWAYS AS (
    item_size(title, summary, text, topics, url, author, attachments)) STORED,

  -- Editorial columns.
  publish_at timestamptz,
  expire_at timestamptz,
  retraction_reason text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),

  -- Where an import took it from: the digest is that of the source's own entry at the last import.
  source text,
  source_guid text,
  source_digest bytea
);

CREATE INDEX items_by_date ON items (date DESC, id DESC);

------------------------------------------------------------------------------------------------------------------
-- The log
------------------------------------------------------------------------------------------------------------------

-- One row per scope and item: the last thing that happened to the item in the scope. A change of an item restamps
-- its rows in all its scopes with one version. The version and the date of the update live here and not in `items`,
-- so that publishing does not write the item a second time.
CREATE TABLE change_log (
  item uuid NOT NULL,
  scope text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  present boolean NOT NULL,
  reason text CHECK (reason IN ('retracted', 'expired', 'left')),
  date timestamptz NOT NULL,
  -- Database time of the change; grows with every change of the item.
  updated timestamptz NOT NULL,
  -- What was published: the item's digest, and the fields that lists filter by.
  digest bytea NOT NULL,
  language text,
  author text,
  PRIMARY KEY (item, scope),
  CHECK (present = (reason IS NULL))
);

-- Deltas walk this one ...
CREATE UNIQUE INDEX change_log_by_version ON change_log (scope, version);
-- ... and lists this one.
CREATE INDEX change_log_by_date ON change_log (scope, date DESC, item DESC) WHERE present;

------------------------------------------------------------------------------------------------------------------
-- Epochs
------------------------------------------------------------------------------------------------------------------

-- A chain of histories. Within one epoch a version names one state for ever. A restore, a promotion or a clone may
-- give the same versions to other changes, so each begins a new epoch; up to `starts_after` its history is its
-- parent's.
CREATE TABLE epochs (
  number integer PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE CHECK (id ~ '^[0-9a-z]{6}$'),
  -- NULL for the first, and where the chain was cut on purpose.
  parent integer REFERENCES epochs (number) CHECK (parent = number - 1),
  starts_after bigint NOT NULL,
  system_identifier text NOT NULL,
  timeline text NOT NULL,
  database_oid bigint NOT NULL,
  counter_oid bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- What tells this database from a copy of it, and this stretch of its history from another. The timeline is read
-- from the name of the current WAL file, because pg_control_checkpoint() lags behind a promotion.
CREATE FUNCTION database_identity(
  OUT system_identifier text, OUT timeline text, OUT database_oid bigint, OUT counter_oid bigint
) LANGUAGE sql STABLE AS $$
  SELECT (SELECT c.system_identifier::text FROM pg_control_system() AS c),
    substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
    (SELECT d.oid::bigint FROM pg_database AS d WHERE d.datname = current_database()),
    'scopes'::regclass::oid::bigint
$$;

-- Whether this is still the database, and the stretch of its history, in which the latest epoch was begun.
CREATE FUNCTION epoch_fits() RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT (e.system_identifier, e.timeline, e.database_oid, e.counter_oid)
      = (i.system_identifier, i.timeline, i.database_oid, i.counter_oid)
    FROM (SELECT * FROM epochs ORDER BY number DESC LIMIT 1) AS e, database_identity() AS i
$$;

-- Starts a new epoch at the present counter. `cut` ends the chain: no older token is good any more.
CREATE FUNCTION begin_epoch(cut boolean DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  counter bigint;
  latest integer;
  chosen text;
BEGIN
  SELECT version INTO STRICT counter FROM scopes WHERE scope = '' FOR UPDATE;
  SELECT max(number) INTO latest FROM epochs;
  SELECT string_agg(substr('0123456789abcdefghijklmnopqrstuvwxyz', 1 + get_byte(bytes, n) % 36, 1), '')
    INTO chosen
    FROM (SELECT sha256(uuid_send(gen_random_uuid())) AS bytes) AS random, generate_series(0, 5) AS n;
  INSERT INTO epochs (number, id, parent, starts_after, system_identifier, timeline, database_oid, counter_oid)
    SELECT coalesce(latest, 0) + 1, chosen, CASE WHEN NOT cut THEN latest END, counter, identity.*
    FROM database_identity() AS identity;
  RETURN chosen;
END
$$;

-- The current epoch and counter, after a look whether this is still the history the epoch was begun in. A caller
-- that has seen a version of an epoch passes both: a counter below it means that the history was rewound.
CREATE FUNCTION confirm_epoch(
  seen_epoch text DEFAULT NULL, seen_version bigint DEFAULT 0, OUT epoch text, OUT version bigint
) LANGUAGE plpgsql AS $$
DECLARE
  fits boolean;
BEGIN
  FOR attempt IN 1..2 LOOP
    -- One statement: the epoch and the counter come from one snapshot.
    SELECT e.id, s.version, epoch_fits() AND NOT (e.id = coalesce(seen_epoch, '') AND s.version < seen_version)
      INTO epoch, version, fits
      FROM (SELECT * FROM epochs ORDER BY number DESC LIMIT 1) AS e, scopes AS s
      WHERE s.scope = '';
    EXIT WHEN fits OR attempt = 2;
    -- Another connection may be about to begin the epoch: look again once the counter is ours.
    PERFORM 1 FROM scopes AS s WHERE s.scope = '' FOR UPDATE;
    PERFORM 1 FROM (SELECT * FROM epochs ORDER BY number DESC LIMIT 1) AS e, scopes AS s
      WHERE s.scope = '' AND epoch_fits() AND NOT (e.id = coalesce(seen_epoch, '') AND s.version < seen_version);
    IF NOT FOUND THEN
      PERFORM begin_epoch();
    END IF;
  END LOOP;
END
$$;

-- The highest version up to which a token of an epoch tells the present history: NULL for an epoch that is unknown
-- or cut off, the largest bigint for the current one.
CREATE FUNCTION epoch_reach(token_epoch text) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN bool_or(later.number IS NOT NULL AND later.parent IS NULL) THEN NULL
      ELSE coalesce(min(later.starts_after), 9223372036854775807) END
  FROM epochs AS own LEFT JOIN epochs AS later ON later.number > own.number
  WHERE own.id = token_epoch
  GROUP BY own.number
$$;

SELECT begin_epoch();

------------------------------------------------------------------------------------------------------------------
-- Publishing
------------------------------------------------------------------------------------------------------------------

-- Makes the present state of these items public: stamps log and scopes with new versions and notifies. All other work of
-- the transaction comes first and the COMMIT follows at once, because from here on every other publisher waits.
-- Returns every item that the feed has ever held, with its version and whether this call changed it; an item whose
-- public columns are as they were takes no version. READ COMMITTED is required: a snapshot taken before the counter
-- was locked could miss the previous publisher's work.
CREATE FUNCTION publish(ids uuid[])
RETURNS TABLE (item uuid, version bigint, updated timestamptz, changed boolean) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  base bigint;
  moment timestamptz;
  unknown text;
  stamped uuid[];
BEGIN
  IF cardinality(ids) > 1000 THEN
    RAISE EXCEPTION 'publish() takes at most 1000 items, not %', cardinality(ids) USING ERRCODE = 'TD001';
  END IF;
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'publish() needs READ COMMITTED' USING ERRCODE = 'TD002';
  END IF;
  PERFORM 1 FROM items WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
  SELECT s.version INTO STRICT base FROM scopes AS s WHERE s.scope = '' FOR UPDATE;
  -- Plain SQL may be the first to write to a clone or a restored database: its versions belong to a new epoch.
  IF NOT epoch_fits() THEN
    PERFORM begin_epoch();
  END IF;
  moment := date_trunc('milliseconds', clock_timestamp());

  SELECT array_agg(i.id ORDER BY i.date, i.id) INTO stamped
    FROM items AS i LEFT JOIN change_log AS l ON l.item = i.id AND l.scope = ''
    WHERE i.id = ANY (ids)
      AND CASE WHEN i.state = 'published' THEN l.present IS NOT TRUE OR l.digest <> i.digest
        ELSE l.present IS TRUE END;

  IF stamped IS NOT NULL THEN
    SELECT t.slug INTO unknown
      FROM items AS i, unnest(i.topics) AS t (slug)
      WHERE i.id = ANY (stamped) AND i.state = 'published'
        AND NOT EXISTS (SELECT 1 FROM topics WHERE topics.slug = t.slug)
      LIMIT 1;
    IF FOUND THEN
      RAISE EXCEPTION 'unknown topic' USING ERRCODE = 'TD003', DETAIL = unknown;
    END IF;

    WITH change AS (
      SELECT i.id, i.state, i.topics, i.date, i.digest, i.language, i.author, base + o.n AS version,
        greatest(moment, l.updated + interval '1 millisecond') AS updated,
        l.present IS TRUE
          AND (l.date, l.language, l.author) IS DISTINCT FROM (i.date, i.language, i.author) AS shifted
      FROM unnest(stamped) WITH ORDINALITY AS o (id, n)
        JOIN items AS i ON i.id = o.id
        LEFT JOIN change_log AS l ON l.item = i.id AND l.scope = ''
    ), wanted AS (
      SELECT c.id, s.scope, c.version, c.date, c.updated, c.digest, c.language, c.author, c.shifted,
        old.present IS TRUE AS was_present
      FROM change AS c
        CROSS JOIN LATERAL (SELECT DISTINCT unnest(array_prepend(''::text, c.topics))) AS s (scope)
        LEFT JOIN change_log AS old ON old.item = c.id AND old.scope = s.scope
      WHERE c.state = 'published'
    ), gone AS (
      UPDATE change_log AS l
        SET version = c.version, present = false, updated = c.updated,
          reason = CASE c.state WHEN 'published' THEN 'left' WHEN 'expired' THEN 'expired' ELSE 'retracted' END
        FROM change AS c
        WHERE l.item = c.id AND l.present
          AND NOT (c.state = 'published' AND (l.scope = '' OR l.scope = ANY (c.topics)))
        RETURNING l.scope, l.version
    ), put AS (
      INSERT INTO change_log AS l (item, scope, version, present, date, updated, digest, language, author)
        SELECT id, scope, version, true, date, updated, digest, language, author FROM wanted
        ON CONFLICT (item, scope) DO UPDATE SET version = excluded.version, present = true, reason = NULL,
          date = excluded.date, updated = excluded.updated, digest = excluded.digest,
          language = excluded.language, author = excluded.author
    ), touched AS (
      SELECT scope, version, shifted, CASE WHEN was_present THEN 0 ELSE 1 END AS added FROM wanted
      UNION ALL
      SELECT scope, version, true, -1 FROM gone
    ), total AS (
      SELECT scope, max(version) AS version, bool_or(shifted) AS shifted, sum(added) AS added FROM touched GROUP BY scope
    )
    UPDATE scopes AS s
      SET version = t.version, items = s.items + t.added, changed_at = greatest(s.changed_at, moment),
        shifted_at = CASE WHEN t.shifted THEN greatest(s.shifted_at, moment) ELSE s.shifted_at END
      FROM total AS t WHERE s.scope = t.scope;

    PERFORM pg_notify('tidings',
      (SELECT e.id FROM epochs AS e ORDER BY e.number DESC LIMIT 1) || ' ' || base + cardinality(stamped));
  END IF;

  RETURN QUERY SELECT l.item, l.version, l.updated, l.version > base
    FROM change_log AS l WHERE l.item = ANY (ids) AND l.scope = '';
END
$$;

-- A commit that leaves the public columns of an item different from what the log says was published would be a
-- change that no version names, and so one that followers miss. It looks at the rows as they are at the commit, so
-- any number of writes followed by one publish() is fine.
CREATE FUNCTION require_publication() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  touched uuid := CASE TG_OP WHEN 'DELETE' THEN OLD.id ELSE NEW.id END;
BEGIN
  IF EXISTS (
    SELECT 1
      FROM (SELECT touched AS id) AS t
        LEFT JOIN items AS i ON i.id = t.id
        LEFT JOIN change_log AS l ON l.item = t.id AND l.scope = ''
      WHERE (i.state IS NOT DISTINCT FROM 'published') <> (l.present IS TRUE)
        OR (l.present AND l.digest IS DISTINCT FROM i.digest)
  ) THEN
    RAISE EXCEPTION 'public columns were changed without publish()'
      USING ERRCODE = 'TD004', DETAIL = 'item ' || touched, HINT = 'Call publish(ARRAY[id]) before the COMMIT.';
  END IF;
  RETURN NULL;
END
$$;

CREATE CONSTRAINT TRIGGER items_inserted_unpublished AFTER INSERT ON items DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW.state = 'published') EXECUTE FUNCTION require_publication();
CREATE CONSTRAINT TRIGGER items_updated_unpublished AFTER UPDATE ON items DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (OLD.id <> NEW.id OR OLD.state <> NEW.state OR (OLD.digest <> NEW.digest AND NEW.state = 'published'))
  EXECUTE FUNCTION require_publication();
CREATE CONSTRAINT TRIGGER items_deleted_unpublished AFTER DELETE ON items DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION require_publication();

-- The number of writes to an item is the editors' lock, so plain SQL counts too. An id never changes: followers know
-- the item by it.
CREATE FUNCTION count_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.id <> OLD.id THEN
    RAISE EXCEPTION 'the id of an item never changes' USING ERRCODE = 'TD005';
  END IF;
  NEW.revision := OLD.revision + 1;
  RETURN NEW;
END
$$;

CREATE TRIGGER items_count_revision BEFORE UPDATE ON items FOR EACH ROW EXECUTE FUNCTION count_revision();

CREATE FUNCTION refuse_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'TRUNCATE would remove items without a version: retract them instead' USING ERRCODE = 'TD004';
END
$$;

CREATE TRIGGER items_refuse_truncate BEFORE TRUNCATE ON items EXECUTE FUNCTION refuse_truncate();

------------------------------------------------------------------------------------------------------------------
-- Keys of editors
------------------------------------------------------------------------------------------------------------------

CREATE TABLE api_keys (
  id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  scopes text[] NOT NULL CHECK (scopes <@ ARRAY['items:write', 'media:write', 'admin'] AND cardinality(scopes) > 0),
  -- SHA-256 of a key of 256 random bits: nothing slower is needed against guessing.
  digest bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  revoked_at timestamptz
);

"""#
