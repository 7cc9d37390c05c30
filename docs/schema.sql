-- The schema of the database after all migrations. `make schema` writes this file from a migrated database.

-- The migrations that were applied, with the SHA-256 digests of their files.
CREATE TABLE schema_migrations (
  number integer NOT NULL,
  name text NOT NULL,
  checksum bytea NOT NULL,
  applied_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT schema_migrations_pkey PRIMARY KEY (number)
);

-- A digest of the fields that readers can see, 16 bytes. An edit that leaves it unchanged is invisible to readers. A
-- JSON array distinguishes NULL from '' and quotes separators. jsonb_build_array() is only STABLE, because the text
-- form of some types depends on settings. No argument here has such a type.
CREATE FUNCTION item_digest(date_ms bigint, title text, summary text, text text, html text, topics text[], language text, url text, author text, breaking boolean, attachments jsonb)
 RETURNS bytea
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
  RETURN substr(sha256(convert_to(jsonb_build_array(
    date_ms, title, summary, text, html, to_jsonb(topics), language, url, author, breaking, attachments)::text,
    'UTF8')), 1, 16);
END
$$;

-- Milliseconds since 1970, the resolution in which dates are stored and sent. extract() of a timestamp without a time
-- zone is IMMUTABLE. Inlined.
CREATE FUNCTION milliseconds(moment timestamp with time zone)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN ((EXTRACT(epoch FROM (moment AT TIME ZONE 'UTC'::text)) * (1000)::numeric))::bigint;

-- The size of a text as JSON in bytes, with quotes and escapes; 0 for NULL. to_json() is only STABLE, because the
-- text form of some types depends on settings. That of text does not.
CREATE FUNCTION json_size(value text)
 RETURNS integer
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
  RETURN coalesce(octet_length(to_json(value)::text), 0);
END
$$;

-- The size of texts that need no escapes as JSON in bytes, without the first and the last quote. array_to_string() is
-- only STABLE, because the text form of some types depends on settings. That of text does not.
CREATE FUNCTION json_list_size(list text[])
 RETURNS integer
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
  RETURN octet_length(array_to_string(list, '","'));
END
$$;

-- An upper bound for the size of an item as JSON in bytes, without `html`. 700 bytes cover the names of all fields
-- and the fields of fixed length. Inlined.
CREATE FUNCTION item_size(title text, summary text, text text, topics text[], url text, author text, attachments jsonb)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (((((((700 + json_size(title)) + json_size(summary)) + json_size(text)) + json_size(url)) + json_size(author)) + json_list_size(topics)) + octet_length((attachments)::text));

-- The scopes that readers can follow: the feed (scope '') and each topic (scope = its slug). The row of the feed is
-- the version counter. publish() locks it last and until the commit, so that the order of versions is the order of
-- commits, without gaps. Only publish() and purge_log() update this table.
CREATE TABLE scopes (
  scope text COLLATE "C" NOT NULL,
  -- The version of the last change in the scope; 0 before the first. A token has room for nine digits of base 36.
  version bigint NOT NULL DEFAULT 0,
  changed_at timestamp with time zone NOT NULL DEFAULT date_trunc('milliseconds'::text, clock_timestamp()),
  -- The last time when an item left the scope, or changed a field by which lists filter or sort. A page may then have
  -- changed although no item on it was updated.
  shifted_at timestamp with time zone NOT NULL DEFAULT date_trunc('milliseconds'::text, clock_timestamp()),
  -- The purge floor: tombstones up to this version may have been purged. A token below it has expired.
  floor bigint NOT NULL DEFAULT 0,
  -- The number of present items.
  items bigint NOT NULL DEFAULT 0,
  -- The last number that was given to an item of the scope (`change_log.ordinal`).
  published bigint NOT NULL DEFAULT 0,
  CONSTRAINT scopes_floor_check CHECK ((floor >= 0)),
  -- The current token of a scope never expires.
  CONSTRAINT scopes_floor_reached CHECK ((floor <= version)),
  CONSTRAINT scopes_items_check CHECK ((items >= 0)),
  CONSTRAINT scopes_pkey PRIMARY KEY (scope),
  CONSTRAINT scopes_published_check CHECK ((published >= 0)),
  CONSTRAINT scopes_scope_check CHECK ((scope ~ '^([a-z0-9-]{1,64})?$'::text)),
  CONSTRAINT scopes_version_check CHECK (((version >= 0) AND (version <= '101559956668415'::bigint)))
) WITH (fillfactor=50);

-- The sections of the app.
CREATE TABLE topics (
  slug text COLLATE "C" NOT NULL,
  titles jsonb NOT NULL DEFAULT '{}'::jsonb,
  position integer NOT NULL DEFAULT 0,
  revision bigint NOT NULL DEFAULT 1,
  updated timestamp with time zone NOT NULL DEFAULT date_trunc('milliseconds'::text, clock_timestamp()),
  CONSTRAINT topics_pkey PRIMARY KEY (slug),
  CONSTRAINT topics_slug_check CHECK ((slug <> ''::text)),
  CONSTRAINT topics_slug_fkey FOREIGN KEY (slug) REFERENCES scopes(scope),
  CONSTRAINT topics_titles_check CHECK ((jsonb_typeof(titles) = 'object'::text))
);

-- Counts the writes of a topic. The revision is the optimistic lock of editors. Edits with plain SQL increment it
-- too.
CREATE FUNCTION move_topic_revision()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
BEGIN
  NEW.revision := OLD.revision + 1;
  NEW.updated := greatest(date_trunc('milliseconds', clock_timestamp()), OLD.updated + interval '1 millisecond');
  RETURN NEW;
END
$$;

CREATE TRIGGER topics_edited BEFORE UPDATE ON topics FOR EACH ROW WHEN ((((old.titles IS DISTINCT FROM new.titles) OR (old."position" IS DISTINCT FROM new."position")) AND (old.revision = new.revision))) EXECUTE FUNCTION move_topic_revision();

-- The revision of the list of topics. Titles, positions and new topics change no version of the feed; processes that
-- cache the topics compare this number instead. It is a row and not a sequence, because the new value must not be
-- visible before the change.
CREATE TABLE topics_state (
  is_only boolean NOT NULL DEFAULT true,
  revision bigint NOT NULL,
  CONSTRAINT topics_state_is_only_check CHECK (is_only),
  CONSTRAINT topics_state_pkey PRIMARY KEY (is_only)
);

-- The revision of the list of topics.
CREATE FUNCTION topics_revision()
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $$
  SELECT revision FROM topics_state
$$;

-- Moves the revision of the list of topics.
CREATE FUNCTION move_topics_revision()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
BEGIN
  UPDATE topics_state SET revision = revision + 1;
  RETURN NULL;
END
$$;

-- These triggers are deferred to the end of the transaction, so that the row is locked only briefly.
CREATE CONSTRAINT TRIGGER topics_changed AFTER INSERT OR DELETE ON topics DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION move_topics_revision();

CREATE CONSTRAINT TRIGGER topics_updated AFTER UPDATE ON topics DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION move_topics_revision();

-- PostgreSQL defers only triggers for each row.
CREATE TRIGGER topics_truncated AFTER TRUNCATE ON topics FOR EACH STATEMENT EXECUTE FUNCTION move_topics_revision();

-- Notifies the processes that cache the topics.
CREATE FUNCTION notify_topics()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
BEGIN
  PERFORM pg_notify('tidings', 'topics');
  RETURN NULL;
END
$$;

CREATE TRIGGER topics_notify AFTER INSERT OR DELETE OR UPDATE ON topics FOR EACH STATEMENT EXECUTE FUNCTION notify_topics();

-- The topics into which deleted ones were merged. A device that renews its registration may not know of it yet.
CREATE TABLE topic_merges (
  slug text COLLATE "C" NOT NULL,
  -- Not a foreign key, so that topics can still be truncated by hand.
  other text COLLATE "C" NOT NULL,
  CONSTRAINT topic_merges_pkey PRIMARY KEY (slug)
);

CREATE INDEX topic_merges_by_other ON topic_merges USING btree (other);

-- The news, in all states. Readers see those that are published, and of them the public columns: from `date` to
-- `attachments`.
CREATE TABLE items (
  id uuid NOT NULL,
  state text NOT NULL,
  -- The number of writes, and the optimistic lock of editors.
  revision bigint NOT NULL DEFAULT 1,
  date timestamp with time zone NOT NULL,
  title text,
  summary text,
  text text NOT NULL,
  html text,
  topics text[] COLLATE "C" NOT NULL DEFAULT '{}'::text[],
  language text,
  url text,
  author text,
  breaking boolean NOT NULL DEFAULT false,
  attachments jsonb NOT NULL DEFAULT '[]'::jsonb,
  -- publish() and require_publication() compare digests. Stored, the digest is computed once for each write.
  digest bytea NOT NULL GENERATED ALWAYS AS (item_digest(milliseconds(date), title, summary, text, html, topics, language, url, author, breaking, attachments)) STORED,
  -- Limits pages of JSON to a number of bytes.
  size integer NOT NULL GENERATED ALWAYS AS (item_size(title, summary, text, topics, url, author, attachments)) STORED,
  publish_at timestamp with time zone,
  expire_at timestamp with time zone,
  retraction_reason text,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  -- The time of the last write.
  written_at timestamp with time zone DEFAULT clock_timestamp(),
  -- Whether an editor, or the publication, has set the date. Until then it is that of the last write.
  has_date boolean NOT NULL DEFAULT true,
  -- The author of the last write, as `KIND` or `KIND:NAME`, such as `key:desk`, `import` or `schedule`.
  editor text,
  -- The revision that `editor` has written. A later revision has another author, who is unknown.
  editor_revision bigint,
  -- The source of an imported item. The digest is that of the source's own entry at the last import.
  source text,
  source_guid text,
  source_digest bytea,
  -- The time when the texts were erased for good; NULL while the item has them.
  erased_at timestamp with time zone,
  CONSTRAINT items_attachments_check CHECK ((jsonb_typeof(attachments) = 'array'::text)),
  CONSTRAINT items_date_check CHECK ((date = date_trunc('milliseconds'::text, date))),
  CONSTRAINT items_pkey PRIMARY KEY (id),
  CONSTRAINT items_published_date CHECK ((has_date OR (state <> 'published'::text))),
  CONSTRAINT items_schedule CHECK (((state <> 'scheduled'::text) OR (publish_at IS NOT NULL))),
  CONSTRAINT items_state_check CHECK ((state = ANY (ARRAY['draft'::text, 'review'::text, 'scheduled'::text, 'published'::text, 'retracted'::text, 'expired'::text]))),
  CONSTRAINT items_text_check CHECK ((octet_length(text) <= 262144)),
  CONSTRAINT items_title_check CHECK ((octet_length(title) <= 1024)),
  CONSTRAINT items_topics_check CHECK (((cardinality(topics) <= 16) AND (array_ndims(topics) IS DISTINCT FROM 2)))
);

CREATE INDEX items_by_date ON items USING btree (date DESC, id DESC);

CREATE INDEX items_by_topics ON items USING gin (topics) WITH (fastupdate=off);

-- For lists sorted by the last write. The filters and the counts read no row besides the index, whose time PostgreSQL
-- only uses for this if it also has the columns of the expression. The condition, which is always true, keeps look-ups
-- of an id, which do not name a state, from reading this whole index: it costs no more while the table is small, and
-- plans are kept.
CREATE INDEX items_by_write ON items USING btree (state, milliseconds(COALESCE(written_at, created_at)) DESC, id DESC) INCLUDE (topics, date, written_at, created_at) WHERE (state IS NOT NULL);

CREATE INDEX items_to_publish ON items USING btree (publish_at) WHERE (state = 'scheduled'::text);

CREATE INDEX items_to_expire ON items USING btree (expire_at) WHERE ((state = 'published'::text) AND (expire_at IS NOT NULL));

-- Counts the writes of an item. Writes with plain SQL increment the revision too. The id never changes, because
-- clients identify the item by it.
CREATE FUNCTION count_revision()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
BEGIN
  IF NEW.id <> OLD.id THEN
    RAISE EXCEPTION 'the id of an item never changes' USING ERRCODE = 'TD005';
  END IF;
  NEW.revision := OLD.revision + 1;
  NEW.written_at := clock_timestamp();
  RETURN NEW;
END
$$;

CREATE TRIGGER items_count_revision BEFORE UPDATE ON items FOR EACH ROW EXECUTE FUNCTION count_revision();

-- TRUNCATE fires no trigger for each row, so that nothing could check that the removals were published.
CREATE FUNCTION refuse_truncate()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
BEGIN
  RAISE EXCEPTION 'TRUNCATE would remove items without a version: retract them instead' USING ERRCODE = 'TD004';
END
$$;

CREATE TRIGGER items_refuse_truncate BEFORE TRUNCATE ON items FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();

-- The text search configuration for the primary subtag of a BCP 47 language tag; 'simple', which only folds case,
-- for other languages. This is a function, because pg_upgrade refuses a stored column of type regconfig. Not inlined:
-- the plan of each search would contain all of it.
CREATE FUNCTION search_configuration(language text)
 RETURNS regconfig
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
  RETURN CASE lower(split_part(language, '-', 1))
    WHEN 'ar' THEN 'pg_catalog.arabic'::regconfig
    WHEN 'ca' THEN 'pg_catalog.catalan'::regconfig
    WHEN 'da' THEN 'pg_catalog.danish'::regconfig
    WHEN 'de' THEN 'pg_catalog.german'::regconfig
    WHEN 'el' THEN 'pg_catalog.greek'::regconfig
    WHEN 'en' THEN 'pg_catalog.english'::regconfig
    WHEN 'es' THEN 'pg_catalog.spanish'::regconfig
    WHEN 'eu' THEN 'pg_catalog.basque'::regconfig
    WHEN 'fi' THEN 'pg_catalog.finnish'::regconfig
    WHEN 'fr' THEN 'pg_catalog.french'::regconfig
    WHEN 'ga' THEN 'pg_catalog.irish'::regconfig
    WHEN 'hi' THEN 'pg_catalog.hindi'::regconfig
    WHEN 'hu' THEN 'pg_catalog.hungarian'::regconfig
    WHEN 'hy' THEN 'pg_catalog.armenian'::regconfig
    WHEN 'id' THEN 'pg_catalog.indonesian'::regconfig
    WHEN 'it' THEN 'pg_catalog.italian'::regconfig
    WHEN 'lt' THEN 'pg_catalog.lithuanian'::regconfig
    WHEN 'nb' THEN 'pg_catalog.norwegian'::regconfig
    WHEN 'ne' THEN 'pg_catalog.nepali'::regconfig
    WHEN 'nl' THEN 'pg_catalog.dutch'::regconfig
    WHEN 'nn' THEN 'pg_catalog.norwegian'::regconfig
    WHEN 'no' THEN 'pg_catalog.norwegian'::regconfig
    WHEN 'pt' THEN 'pg_catalog.portuguese'::regconfig
    WHEN 'ro' THEN 'pg_catalog.romanian'::regconfig
    WHEN 'ru' THEN 'pg_catalog.russian'::regconfig
    WHEN 'sr' THEN 'pg_catalog.serbian'::regconfig
    WHEN 'sv' THEN 'pg_catalog.swedish'::regconfig
    WHEN 'ta' THEN 'pg_catalog.tamil'::regconfig
    WHEN 'tr' THEN 'pg_catalog.turkish'::regconfig
    WHEN 'yi' THEN 'pg_catalog.yiddish'::regconfig
    ELSE 'pg_catalog.simple'::regconfig
  END;
END
$$;

-- The number of the UTC day since 1970.
CREATE FUNCTION day_number(date timestamp with time zone)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (floor((EXTRACT(epoch FROM (date AT TIME ZONE 'UTC'::text)) / (86400)::numeric)))::integer;

-- The search document for the words of an item, as item_search() describes it. The planner learns from the cost that
-- parsing a text is expensive.
CREATE FUNCTION search_document(configuration regconfig, words text, day integer)
 RETURNS tsvector
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE COST 5000
AS $$
BEGIN
  RETURN to_tsvector('pg_catalog.simple', words)
    || CASE WHEN configuration = 'pg_catalog.simple'::regconfig THEN ''::tsvector
      ELSE to_tsvector(configuration, words) END
    || array_to_tsvector(ARRAY['1 day ' || day, '32 days ' || (day >> 5), '1024 days ' || (day >> 10)]);
END
$$;

-- The search document of an item: its words as written and as its language inflects them, and its day. Inlined.
--
-- Title and summary precede the text. Only the first 100,000 characters count, because a tsvector is limited to 1 MiB.
--
-- Readers receive the newest items first. The index list of a common word has a tenth of all items and is decoded as a
-- whole, unless the index also shows which items are new. So the day is in the document too, in buckets of 1, 32 and
-- 1024 days, so that a few buckets cover the newest items of any feed. A bucket is a lexeme that no reader can search
-- for, because it contains a space.
CREATE FUNCTION item_search(language text, title text, summary text, text text, date timestamp with time zone)
 RETURNS tsvector
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN search_document(search_configuration(language), "left"(((COALESCE((title || '
'::text), ''::text) || COALESCE((summary || '
'::text), ''::text)) || text), 100000), day_number(date));

-- Matches the items of the given days. If the days need more than 40 buckets, wider buckets are used, which match the
-- items of other days too.
CREATE FUNCTION days_search(days integer[])
 RETURNS tsquery
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (SELECT (string_agg(format('''%s %s'''::text, w.width, b.bucket), '|'::text))::tsquery AS string_agg FROM ((SELECT v.width, v.bits FROM (VALUES ('1 day'::text,0), ('32 days'::text,5), ('1024 days'::text,10)) v(width, bits) WHERE ((SELECT count(DISTINCT (d.d >> v.bits)) AS count FROM unnest(days_search.days) d(d)) <= 40) ORDER BY v.bits LIMIT 1) w CROSS JOIN LATERAL (SELECT DISTINCT (d.d >> w.bits) AS bucket FROM unnest(days_search.days) d(d)) b));

-- For searches: an index on the function and not on a stored column, which would be three times as large as the
-- texts.
--
-- New entries are collected in a list, and a writer who finds it full merges it into the index. Merging many entries at
-- once takes far less time for each, but longer for that writer. So the servers and imports merge the list regularly
-- beside the writes, and the list has room for what arrives meanwhile.
--
-- Statistics of search documents are not needed: the planner's choice between the plans of a search does not depend on
-- them. ANALYZE would parse the texts of 30,000 items, again and again while a table grows.
CREATE INDEX items_by_search_and_day ON items USING gin (item_search(language, title, summary, text, date)) WITH (gin_pending_list_limit='16384');
ALTER INDEX items_by_search_and_day ALTER COLUMN 1 SET STATISTICS 0;

-- One row for each scope and item: the last change of the item in the scope. A change of an item restamps its rows in
-- all its scopes with one version. The version and the time of the change are stored here and not in `items`, so that
-- publishing does not write the item a second time.
--
-- An index-only scan reads the table where it has not been vacuumed since the last change. Readers mostly read the
-- newest rows, so the log is vacuumed more often than by default.
CREATE TABLE change_log (
  item uuid NOT NULL,
  scope text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  -- Whether the item is in the scope. If not, the row is a tombstone.
  present boolean NOT NULL,
  -- The reason of a tombstone. `left` means that the item is published, but no longer in the scope.
  reason text,
  date timestamp with time zone NOT NULL,
  -- The time of the change by the database clock. It increases with every change of the item.
  updated timestamp with time zone NOT NULL,
  -- The digest of the published item.
  digest bytea NOT NULL,
  language text,
  author text,
  breaking boolean NOT NULL DEFAULT false,
  -- Upper bounds for the size of the published item as JSON in bytes, without `html`. Pages are cut, and their entity
  -- tags computed, without reading an item. NULL in tombstones.
  size integer,
  -- The same for `html` alone.
  html_size integer,
  -- The number of the item's first publication in the scope, from 1. It stays when the item leaves the scope and
  -- returns before the tombstone is purged. Archives of feeds (RFC 5005) are divided by it.
  ordinal bigint,
  CONSTRAINT change_log_check CHECK ((present = (reason IS NULL))),
  CONSTRAINT change_log_pkey PRIMARY KEY (item, scope),
  CONSTRAINT change_log_reason_check CHECK ((reason = ANY (ARRAY['retracted'::text, 'expired'::text, 'left'::text]))),
  CONSTRAINT change_log_sizes CHECK (((NOT present) OR ((size IS NOT NULL) AND (html_size IS NOT NULL))))
) WITH (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.02);

-- For deltas and snapshots. It contains all that a page is made from.
CREATE UNIQUE INDEX change_log_deltas ON change_log USING btree (scope, version) INCLUDE (item, present, reason, date, updated, digest, size, html_size);

-- For lists. It contains all that a page is made from.
CREATE INDEX change_log_lists ON change_log USING btree (scope, date DESC, item DESC) INCLUDE (version, updated, digest, size, html_size) WHERE present;

CREATE INDEX change_log_breaking ON change_log USING btree (scope, date DESC, item DESC) INCLUDE (version, updated, digest, size, html_size) WHERE (present AND breaking);

-- For archives of feeds.
CREATE INDEX change_log_archives ON change_log USING btree (scope, ordinal) WHERE present;

-- For the purge.
CREATE INDEX change_log_by_removal ON change_log USING btree (updated) WHERE (NOT present);

-- The items whose tombstones in the feed were purged. Their addresses are still answered with the reason.
CREATE TABLE gone_items (
  item uuid NOT NULL,
  reason text NOT NULL,
  CONSTRAINT gone_items_pkey PRIMARY KEY (item)
);

-- A chain of histories. Within one epoch a version identifies one state forever. After a restore, a promotion or a
-- clone the same versions may be given to other changes, so each of these begins a new epoch. Up to `starts_after` its
-- history is that of its parent.
CREATE TABLE epochs (
  number integer NOT NULL,
  id text COLLATE "C" NOT NULL,
  -- NULL for the first epoch, and where an operator cut the chain.
  parent integer,
  starts_after bigint NOT NULL,
  system_identifier text NOT NULL,
  timeline text NOT NULL,
  database_oid bigint NOT NULL,
  counter_oid bigint NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT epochs_check CHECK ((parent = (number - 1))),
  CONSTRAINT epochs_id_check CHECK ((id ~ '^[0-9a-z]{6}$'::text)),
  CONSTRAINT epochs_id_key UNIQUE (id),
  CONSTRAINT epochs_parent_fkey FOREIGN KEY (parent) REFERENCES epochs(number),
  CONSTRAINT epochs_pkey PRIMARY KEY (number)
);

-- The values that differ between this database and a copy of it, and between its history before and after a restore.
-- The timeline is that of the current WAL file, because pg_control_checkpoint() lags behind a promotion.
CREATE FUNCTION database_identity(OUT system_identifier text, OUT timeline text, OUT database_oid bigint, OUT counter_oid bigint)
 RETURNS record
 LANGUAGE plpgsql
 STABLE
AS $$
BEGIN
  SELECT (SELECT c.system_identifier::text FROM pg_control_system() AS c),
      substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
      (SELECT d.oid::bigint FROM pg_database AS d WHERE d.datname = current_database()),
      'scopes'::regclass::oid::bigint
    INTO system_identifier, timeline, database_oid, counter_oid;
END
$$;

-- Whether the latest epoch was begun in this database and in this part of its history.
CREATE FUNCTION epoch_fits()
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $$
BEGIN
  RETURN (
    SELECT (e.system_identifier, e.timeline, e.database_oid, e.counter_oid)
        = (i.system_identifier, i.timeline, i.database_oid, i.counter_oid)
      FROM (SELECT * FROM epochs ORDER BY number DESC LIMIT 1) AS e, database_identity() AS i
  );
END
$$;

-- Begins a new epoch at the current counter and returns its id. `cut` ends the chain: all older tokens expire.
CREATE FUNCTION begin_epoch(cut boolean DEFAULT false)
 RETURNS text
 LANGUAGE plpgsql
AS $$
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

-- Returns the current epoch and counter. Begins a new epoch first if the history is no longer that of the latest
-- epoch. A caller that has seen a version of an epoch passes both: a counter below that version means that the history
-- was rewound.
CREATE FUNCTION confirm_epoch(seen_epoch text DEFAULT NULL::text, seen_version bigint DEFAULT 0, OUT epoch text, OUT version bigint)
 RETURNS record
 LANGUAGE plpgsql
AS $$
DECLARE
  fits boolean;
BEGIN
  FOR attempt IN 1..2 LOOP
    -- A single statement, so that the epoch and the counter come from one snapshot.
    SELECT e.id, s.version, epoch_fits() AND NOT (e.id = coalesce(seen_epoch, '') AND s.version < seen_version)
      INTO epoch, version, fits
      FROM (SELECT * FROM epochs ORDER BY number DESC LIMIT 1) AS e, scopes AS s
      WHERE s.scope = '';
    EXIT WHEN fits OR attempt = 2;
    -- Another connection may be about to begin the epoch, so the check is repeated with the counter locked.
    PERFORM 1 FROM scopes AS s WHERE s.scope = '' FOR UPDATE;
    PERFORM 1 FROM (SELECT * FROM epochs ORDER BY number DESC LIMIT 1) AS e, scopes AS s
      WHERE s.scope = '' AND epoch_fits() AND NOT (e.id = coalesce(seen_epoch, '') AND s.version < seen_version);
    IF NOT FOUND THEN
      PERFORM begin_epoch();
    END IF;
  END LOOP;
END
$$;

-- The highest version up to which the history of an epoch is part of the current one: the largest bigint for the
-- current epoch, NULL for an epoch that is unknown or cut off.
CREATE FUNCTION epoch_reach(token_epoch text)
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $$
  SELECT CASE WHEN bool_or(later.number IS NOT NULL AND later.parent IS NULL) THEN NULL
      ELSE coalesce(min(later.starts_after), 9223372036854775807) END
  FROM epochs AS own LEFT JOIN epochs AS later ON later.number > own.number
  WHERE own.id = token_epoch
  GROUP BY own.number
$$;

-- The changes that are not yet turned into pushes and deliveries. The rows live for a moment. There is no index but
-- the key, so that the table costs a publication as little as possible.
CREATE TABLE outbox (
  number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  -- The last of `versions`.
  version bigint NOT NULL,
  at timestamp with time zone NOT NULL,
  -- The items with their versions and the kinds of their changes, in the order of versions.
  items uuid[] NOT NULL,
  versions bigint[] NOT NULL,
  -- `published`: was not in the feed, and is. `changed`: was and is. `retracted`: is no longer, also if it was
  -- withdrawn. `expired`. `alert`: an alert is requested, and the item has not changed.
  kinds text[] NOT NULL,
  CONSTRAINT outbox_pkey PRIMARY KEY (number)
) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);

-- Publishes the current state of the given items: stamps the log and the scopes with new versions, and notifies. It
-- is called last in a transaction, with the COMMIT right behind, because all other publishers wait for the counter
-- meanwhile. The outbox receives one row, whatever the number of items.
--
-- Returns a row for each given item that was ever in the feed, with its version, and whether this call changed it. An
-- item whose public columns are unchanged receives no new version.
--
-- READ COMMITTED is required: a snapshot from before the counter was locked could miss the work of the previous
-- publisher.
CREATE FUNCTION publish(ids uuid[])
 RETURNS TABLE(item uuid, version bigint, updated timestamp with time zone, changed boolean)
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_material TO 'off'
AS $$
#variable_conflict use_column
DECLARE
  base bigint;
  moment timestamptz;
  unknown text;
  stamped uuid[];
  kinds text[];
  is_logged boolean;
BEGIN
  IF cardinality(ids) > 1000 THEN
    RAISE EXCEPTION 'publish() takes at most 1000 items, not %', cardinality(ids) USING ERRCODE = 'TD001';
  END IF;
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'publish() needs READ COMMITTED' USING ERRCODE = 'TD002';
  END IF;
  PERFORM 1 FROM items WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
  SELECT s.version INTO STRICT base FROM scopes AS s WHERE s.scope = '' FOR UPDATE;
  -- Plain SQL may be the first to write to a clone or a restored database. Its versions belong to a new epoch.
  IF NOT epoch_fits() THEN
    PERFORM begin_epoch();
  END IF;
  moment := date_trunc('milliseconds', clock_timestamp());

  SELECT array_agg(i.id ORDER BY i.date, i.id),
      array_agg(CASE WHEN i.state = 'published' AND l.present THEN 'changed' WHEN i.state = 'published' THEN 'published'
        WHEN i.state = 'expired' THEN 'expired' ELSE 'retracted' END ORDER BY i.date, i.id),
      bool_or(EXISTS (SELECT FROM change_log WHERE change_log.item = i.id))
    INTO stamped, kinds, is_logged
    FROM items AS i LEFT JOIN change_log AS l ON l.item = i.id AND l.scope = ''
    WHERE i.id = ANY (ids)
      AND CASE WHEN i.state = 'published' THEN l.present IS NOT TRUE OR l.digest <> i.digest
        ELSE l.present IS TRUE END;

  IF stamped IS NOT NULL THEN
    SELECT t.slug INTO unknown
      -- OFFSET keeps the planner from reading all published items by an index on the state.
      FROM (SELECT * FROM items WHERE id = ANY (stamped) OFFSET 0) AS i, unnest(i.topics) AS t (slug)
      WHERE i.state = 'published'
        AND NOT EXISTS (SELECT 1 FROM topics WHERE topics.slug = t.slug)
      LIMIT 1;
    IF FOUND THEN
      RAISE EXCEPTION 'unknown topic' USING ERRCODE = 'TD003', DETAIL = unknown;
    END IF;
  END IF;

  IF stamped IS NOT NULL AND NOT is_logged THEN
    -- All of them are published for the first time.
    WITH put AS (
      INSERT INTO change_log AS l (
          item, scope, version, present, date, updated, digest, language, author, breaking, size, html_size, ordinal)
        SELECT i.id, s.scope, base + o.n, true, i.date, moment, i.digest, i.language, i.author, i.breaking, i.size,
          json_size(i.html), p.published + row_number() OVER (PARTITION BY s.scope ORDER BY o.n)
        FROM unnest(stamped) WITH ORDINALITY AS o (id, n)
          JOIN items AS i ON i.id = o.id
          CROSS JOIN LATERAL (SELECT DISTINCT unnest(array_prepend(''::text, i.topics))) AS s (scope)
          JOIN scopes AS p ON p.scope = s.scope
        RETURNING l.scope, l.version
    ), total AS (
      SELECT scope, max(version) AS version, count(*) AS added FROM put GROUP BY scope
    )
    UPDATE scopes AS s
      SET version = t.version, items = s.items + t.added, published = s.published + t.added,
        changed_at = greatest(s.changed_at, moment)
      FROM total AS t WHERE s.scope = t.scope;
  ELSIF stamped IS NOT NULL THEN
    WITH change AS (
      SELECT i.id, i.state, i.topics, i.date, i.digest, i.language, i.author, i.breaking, i.size, base + o.n AS version,
        CASE i.state WHEN 'published' THEN json_size(i.html) END AS html_size,
        greatest(moment, l.updated + interval '1 millisecond') AS updated,
        l.present IS TRUE
          AND (l.date, l.language, l.author, l.breaking)
            IS DISTINCT FROM (i.date, i.language, i.author, i.breaking) AS shifted
      FROM unnest(stamped) WITH ORDINALITY AS o (id, n)
        JOIN items AS i ON i.id = o.id
        LEFT JOIN change_log AS l ON l.item = i.id AND l.scope = ''
    ), wanted AS (
      SELECT c.id, s.scope, c.version, c.date, c.updated, c.digest, c.language, c.author, c.breaking, c.size,
        c.html_size, c.shifted, old.present IS TRUE AS was_present,
        old.ordinal IS NULL AND old.present IS NOT TRUE AS is_new
      FROM change AS c
        CROSS JOIN LATERAL (SELECT DISTINCT unnest(array_prepend(''::text, c.topics))) AS s (scope)
        LEFT JOIN LATERAL (
          -- OFFSET keeps both conditions together, for a lookup by key.
          SELECT present, ordinal FROM change_log
            WHERE change_log.item = c.id AND change_log.scope = s.scope OFFSET 0
        ) AS old ON true
      WHERE c.state = 'published'
    ), gone AS (
      UPDATE change_log AS l
        SET version = c.version, present = false, updated = c.updated,
          reason = CASE c.state WHEN 'published' THEN 'left' WHEN 'expired' THEN 'expired' ELSE 'retracted' END
        FROM change AS c
        -- A plain `l.present` would admit the index for lists, in which the item is the last column.
        WHERE l.item = c.id AND l.present IS NOT FALSE
          AND NOT (c.state = 'published' AND (l.scope = '' OR l.scope = ANY (c.topics)))
        RETURNING l.scope, l.version
    ), put AS (
      INSERT INTO change_log AS l (
          item, scope, version, present, date, updated, digest, language, author, breaking, size, html_size, ordinal)
        SELECT w.id, w.scope, w.version, true, w.date, w.updated, w.digest, w.language, w.author, w.breaking, w.size,
          w.html_size,
          CASE WHEN w.is_new
            THEN p.published + row_number() OVER (PARTITION BY w.scope, w.is_new ORDER BY w.version) END
        FROM wanted AS w JOIN scopes AS p ON p.scope = w.scope
        ON CONFLICT (item, scope) DO UPDATE SET version = excluded.version, present = true, reason = NULL,
          date = excluded.date, updated = excluded.updated, digest = excluded.digest,
          language = excluded.language, author = excluded.author, breaking = excluded.breaking,
          size = excluded.size, html_size = excluded.html_size, ordinal = coalesce(l.ordinal, excluded.ordinal)
    ), touched AS (
      SELECT scope, version, shifted, CASE WHEN was_present THEN 0 ELSE 1 END AS added,
        CASE WHEN is_new THEN 1 ELSE 0 END AS numbered FROM wanted
      UNION ALL
      SELECT scope, version, true, -1, 0 FROM gone
    ), total AS (
      SELECT scope, max(version) AS version, bool_or(shifted) AS shifted, sum(added) AS added, sum(numbered) AS numbered
        FROM touched GROUP BY scope
    )
    UPDATE scopes AS s
      SET version = t.version, items = s.items + t.added, published = s.published + t.numbered,
        changed_at = greatest(s.changed_at, moment),
        shifted_at = CASE WHEN t.shifted THEN greatest(s.shifted_at, moment) ELSE s.shifted_at END
      FROM total AS t WHERE s.scope = t.scope;
  END IF;

  IF stamped IS NOT NULL THEN
    INSERT INTO outbox (version, at, items, versions, kinds)
      VALUES (base + cardinality(stamped), moment, stamped,
        ARRAY(SELECT base + n FROM generate_series(1, cardinality(stamped)) AS g (n) ORDER BY n), kinds);
    PERFORM pg_notify('tidings',
      (SELECT e.id FROM epochs AS e ORDER BY e.number DESC LIMIT 1) || ' ' || base + cardinality(stamped));
  END IF;

  RETURN QUERY SELECT l.item, l.version, l.updated, l.version > base
    FROM (SELECT DISTINCT unnest(ids)) AS o (id) CROSS JOIN LATERAL (
      -- OFFSET keeps the planner from reordering the join: the log is looked up for each id.
      SELECT * FROM change_log WHERE change_log.item = o.id AND change_log.scope = '' OFFSET 0
    ) AS l;
END
$$;

-- Refuses a commit after which the public columns of an item differ from what the log says was published. No version
-- would name such a change, and clients would miss it. The trigger is deferred and reads the rows as they are at the
-- commit, so one publish() may follow any number of writes.
CREATE FUNCTION require_publication()
 RETURNS trigger
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_material TO 'off'
AS $$
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

CREATE CONSTRAINT TRIGGER items_inserted_unpublished AFTER INSERT ON items DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((new.state = 'published'::text)) EXECUTE FUNCTION require_publication();

CREATE CONSTRAINT TRIGGER items_updated_unpublished AFTER UPDATE ON items DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((old.id <> new.id) OR (old.state <> new.state) OR ((old.digest <> new.digest) AND (new.state = 'published'::text)))) EXECUTE FUNCTION require_publication();

CREATE CONSTRAINT TRIGGER items_deleted_unpublished AFTER DELETE ON items DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION require_publication();

-- Whether one of the topics does not exist.
CREATE FUNCTION has_unknown_topic(slugs text[])
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM unnest(slugs) AS s (slug) WHERE NOT EXISTS (SELECT FROM topics AS t WHERE t.slug = s.slug)
  );
END
$$;

-- Publishes scheduled items whose time has come, and ends published ones that expire, at most `most` of each. An item
-- whose whole time has passed meanwhile expires without a publication. Items that a transaction holds are left to the
-- next call. So is everything while another session runs this function: any process may call it, and the clock of the
-- database decides.
--
-- An item with an unknown topic cannot be published. It is left as it is and counted in `stuck`. `selected` restricts
-- the call to some items, for a caller that has found one of several to fail.
--
-- Returns the number of changed items, and the time of the next one that is due; NULL if none is.
CREATE FUNCTION apply_schedule(most integer DEFAULT 100, selected uuid[] DEFAULT NULL::uuid[], OUT changed integer, OUT stuck integer, OUT next_due timestamp with time zone)
 RETURNS record
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_material TO 'off'
AS $$
DECLARE
  moment timestamptz := clock_timestamp();
  opened uuid[];
  ended uuid[];
BEGIN
  changed := 0;
  stuck := 0;
  -- The key is arbitrary. It only has to be the same in all processes.
  IF pg_try_advisory_xact_lock(7161720914259) THEN
    SELECT array_agg(d.id) INTO opened FROM (
      SELECT i.id FROM items AS i
        WHERE i.state = 'scheduled' AND i.publish_at <= moment AND NOT has_unknown_topic(i.topics)
          AND (selected IS NULL OR i.id = ANY (selected))
        ORDER BY i.publish_at LIMIT most FOR NO KEY UPDATE SKIP LOCKED
    ) AS d;
    SELECT array_agg(d.id) INTO ended FROM (
      SELECT i.id FROM items AS i
        WHERE i.state = 'published' AND i.expire_at <= moment AND (selected IS NULL OR i.id = ANY (selected))
        ORDER BY i.expire_at LIMIT most FOR NO KEY UPDATE SKIP LOCKED
    ) AS d;
    IF opened IS NOT NULL THEN
      UPDATE items AS i
        SET state = CASE WHEN i.expire_at <= moment THEN 'expired' ELSE 'published' END,
          date = CASE WHEN i.has_date THEN i.date ELSE date_trunc('milliseconds', moment) END,
          has_date = true, editor = 'schedule', editor_revision = i.revision + 1
        WHERE i.id = ANY (opened);
    END IF;
    IF ended IS NOT NULL THEN
      UPDATE items AS i SET state = 'expired', editor = 'schedule', editor_revision = i.revision + 1
        WHERE i.id = ANY (ended);
    END IF;
    IF opened IS NOT NULL OR ended IS NOT NULL THEN
      changed := cardinality(coalesce(opened, '{}') || coalesce(ended, '{}'));
      PERFORM count(*) FROM publish(coalesce(opened, '{}') || coalesce(ended, '{}'));
    END IF;
    SELECT count(*) INTO stuck FROM (
      SELECT FROM items AS i WHERE i.state = 'scheduled' AND i.publish_at <= moment AND has_unknown_topic(i.topics)
        LIMIT 1000
    ) AS s;
  END IF;
  next_due := least(
    (SELECT i.publish_at FROM items AS i WHERE i.state = 'scheduled' AND i.publish_at > moment
      ORDER BY i.publish_at LIMIT 1),
    (SELECT i.expire_at FROM items AS i WHERE i.state = 'published' AND i.expire_at > moment
      ORDER BY i.expire_at LIMIT 1));
END
$$;

-- Deletes the oldest tombstones beyond an age, 1 to `most` of them, so that publishers wait only briefly. Raises the
-- purge floors of their scopes: clients with older tokens take the snapshot. Returns the number of deleted tombstones; 0
-- means that none is left.
CREATE FUNCTION purge_log(age interval, most integer DEFAULT 500)
 RETURNS integer
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'auto'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_material TO 'off'
AS $$
DECLARE
  forgotten integer;
BEGIN
  IF NOT EXISTS (SELECT 1 FROM change_log WHERE NOT present AND updated < clock_timestamp() - age) THEN
    RETURN 0;
  END IF;
  PERFORM 1 FROM scopes WHERE scope = '' FOR UPDATE;
  WITH old AS (
    SELECT l.item, l.scope FROM change_log AS l
      WHERE NOT l.present AND l.updated < clock_timestamp() - age
      ORDER BY l.updated LIMIT most
  ), gone AS (
    DELETE FROM change_log AS l USING old WHERE l.item = old.item AND l.scope = old.scope AND NOT l.present
      RETURNING l.item, l.scope, l.version, l.reason
  ), kept AS (
    INSERT INTO gone_items (item, reason) SELECT item, reason FROM gone WHERE scope = ''
      ON CONFLICT (item) DO UPDATE SET reason = excluded.reason
  ), raised AS (
    UPDATE scopes AS s SET floor = greatest(s.floor, g.version)
      FROM (SELECT scope, max(version) AS version FROM gone GROUP BY scope) AS g WHERE s.scope = g.scope
  )
  SELECT count(*) INTO forgotten FROM gone;
  PERFORM pg_notify('tidings', 'floors');
  RETURN forgotten;
END
$$;

-- The history of items: the author and the time of each write, the fields that it changed, and their former values.
-- Triggers write it, so that it also contains the writes of plain SQL, whose author is unknown.
CREATE TABLE item_history (
  -- The order of the writes.
  number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  item uuid NOT NULL,
  -- The revision that the write made.
  revision bigint NOT NULL,
  at timestamp with time zone NOT NULL,
  -- The author; NULL if unknown.
  editor text,
  -- The state after the write.
  state text NOT NULL,
  -- The changed fields, by their names in the API. A creation has none.
  fields text[] NOT NULL,
  -- The former values of the fields that had one.
  replaced jsonb NOT NULL,
  CONSTRAINT item_history_item_revision_key UNIQUE (item, revision),
  CONSTRAINT item_history_pkey PRIMARY KEY (number)
);

-- The form of dates in the API.
CREATE FUNCTION json_date(moment timestamp with time zone)
 RETURNS jsonb
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN to_jsonb(to_char((moment AT TIME ZONE 'UTC'::text), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'::text));

-- The value of a field of an item, in the form of the API; NULL if it has none.
CREATE FUNCTION item_field(i items, field text)
 RETURNS jsonb
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN CASE field WHEN 'state'::text THEN to_jsonb((i).state) WHEN 'publishAt'::text THEN json_date((i).publish_at) WHEN 'expireAt'::text THEN json_date((i).expire_at) WHEN 'date'::text THEN CASE WHEN (i).has_date THEN json_date((i).date) ELSE NULL::jsonb END WHEN 'title'::text THEN to_jsonb((i).title) WHEN 'summary'::text THEN to_jsonb((i).summary) WHEN 'text'::text THEN to_jsonb((i).text) WHEN 'html'::text THEN to_jsonb((i).html) WHEN 'topics'::text THEN to_jsonb((i).topics) WHEN 'language'::text THEN to_jsonb((i).language) WHEN 'url'::text THEN to_jsonb((i).url) WHEN 'author'::text THEN to_jsonb((i).author) WHEN 'breaking'::text THEN to_jsonb((i).breaking) WHEN 'attachments'::text THEN (i).attachments WHEN 'retractionReason'::text THEN to_jsonb((i).retraction_reason) WHEN 'erased'::text THEN json_date((i).erased_at) ELSE NULL::jsonb END;

-- Writes the first row of the history of each new item. It is a trigger for each statement, because imports create
-- many items at once.
CREATE FUNCTION note_creations()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
BEGIN
  INSERT INTO item_history (item, revision, at, editor, state, fields, replaced)
    SELECT n.id, n.revision, n.created_at, CASE WHEN n.editor_revision = n.revision THEN n.editor END, n.state,
      '{}', '{}'
    FROM created AS n;
  RETURN NULL;
END
$$;

CREATE TRIGGER items_note_creations AFTER INSERT ON items REFERENCING NEW TABLE AS created FOR EACH STATEMENT EXECUTE FUNCTION note_creations();

-- Writes the changed fields of an item, and their former values, into its history.
CREATE FUNCTION note_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
DECLARE
  changed text[];
  former jsonb := '{}';
BEGIN
  IF NEW.erased_at IS NOT NULL AND OLD.erased_at IS NULL THEN
    changed := '{erased}';
  ELSE
    changed := array_remove(ARRAY[
      CASE WHEN NEW.state <> OLD.state THEN 'state' END,
      CASE WHEN NEW.publish_at IS DISTINCT FROM OLD.publish_at THEN 'publishAt' END,
      CASE WHEN NEW.expire_at IS DISTINCT FROM OLD.expire_at THEN 'expireAt' END,
      CASE WHEN (NEW.has_date, CASE WHEN NEW.has_date THEN NEW.date END) IS DISTINCT FROM
        (OLD.has_date, CASE WHEN OLD.has_date THEN OLD.date END) THEN 'date' END,
      CASE WHEN NEW.title IS DISTINCT FROM OLD.title THEN 'title' END,
      CASE WHEN NEW.summary IS DISTINCT FROM OLD.summary THEN 'summary' END,
      CASE WHEN NEW.text <> OLD.text THEN 'text' END,
      CASE WHEN NEW.html IS DISTINCT FROM OLD.html THEN 'html' END,
      CASE WHEN NEW.topics <> OLD.topics THEN 'topics' END,
      CASE WHEN NEW.language IS DISTINCT FROM OLD.language THEN 'language' END,
      CASE WHEN NEW.url IS DISTINCT FROM OLD.url THEN 'url' END,
      CASE WHEN NEW.author IS DISTINCT FROM OLD.author THEN 'author' END,
      CASE WHEN NEW.breaking <> OLD.breaking THEN 'breaking' END,
      CASE WHEN NEW.attachments <> OLD.attachments THEN 'attachments' END,
      CASE WHEN NEW.retraction_reason IS DISTINCT FROM OLD.retraction_reason THEN 'retractionReason' END], NULL);
    -- The former values of an erased item must not survive in its history.
    IF NEW.erased_at IS NULL THEN
      SELECT coalesce(jsonb_object_agg(c.field, c.value) FILTER (WHERE c.value IS NOT NULL), '{}') INTO former
        FROM (SELECT f.name AS field, item_field(OLD, f.name) AS value FROM unnest(changed) AS f (name)) AS c;
    END IF;
  END IF;
  IF cardinality(changed) > 0 THEN
    INSERT INTO item_history (item, revision, at, editor, state, fields, replaced)
      VALUES (NEW.id, NEW.revision, NEW.written_at, CASE WHEN NEW.editor_revision = NEW.revision THEN NEW.editor END,
        NEW.state, changed, former);
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER items_note_change AFTER UPDATE ON items FOR EACH ROW EXECUTE FUNCTION note_change();

-- The answers to requests that have an Idempotency-Key, for repetitions within 24 hours. A row is written in the
-- transaction of the request's effect.
CREATE TABLE idempotency_answers (
  -- The SHA-256 digest of the API key's id, the method, the target and the Idempotency-Key.
  request bytea NOT NULL,
  -- The SHA-256 digest of the body; NULL if the answer was erased with an item.
  body_digest bytea,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  status integer NOT NULL,
  -- The header fields, without those of each single response, such as Date.
  headers jsonb NOT NULL,
  -- The type of the body: an item and the results of a batch have versions, which are known after their publication.
  content text NOT NULL,
  body bytea NOT NULL,
  -- The items whose texts the body contains.
  items uuid[] NOT NULL DEFAULT '{}'::uuid[],
  -- The versions of these items, as `{"id": [version, milliseconds of its time]}`. The body has those from before the
  -- publication, because the client writes it and must not keep other publishers waiting.
  published jsonb NOT NULL DEFAULT '{}'::jsonb,
  CONSTRAINT idempotency_answers_body_digest_check CHECK ((octet_length(body_digest) = 32)),
  CONSTRAINT idempotency_answers_content_check CHECK ((content = ANY (ARRAY['item'::text, 'batch'::text, 'other'::text]))),
  CONSTRAINT idempotency_answers_pkey PRIMARY KEY (request),
  CONSTRAINT idempotency_answers_request_check CHECK ((octet_length(request) = 32))
);

CREATE INDEX idempotency_answers_by_age ON idempotency_answers USING btree (created_at);

CREATE INDEX idempotency_answers_by_item ON idempotency_answers USING gin (items) WITH (fastupdate=off);

-- Erases the stored answers that contain the texts of an item. Their requests remain known, so that a repetition
-- still has no effect.
CREATE FUNCTION erase_answers(item uuid)
 RETURNS void
 LANGUAGE sql
AS $$
  UPDATE idempotency_answers AS a
    SET body_digest = NULL, headers = '{}', content = 'other', body = '', items = '{}', published = '{}'
    WHERE a.items @> ARRAY[item]
$$;

-- Deletes the history and the stored answers of a deleted item.
CREATE FUNCTION forget_history()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
BEGIN
  DELETE FROM item_history WHERE item = OLD.id;
  PERFORM erase_answers(OLD.id);
  RETURN NULL;
END
$$;

CREATE TRIGGER items_forget_history AFTER DELETE ON items FOR EACH ROW EXECUTE FUNCTION forget_history();

-- The keys of editors. The row is the identity of a key, and outlasts its secrets.
CREATE TABLE api_keys (
  id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  scopes text[] NOT NULL,
  -- The topics to which the key is restricted; NULL for no restriction. If all of them are deleted, the array is empty,
  -- and the key may write no item.
  topics text[] COLLATE "C",
  -- SHA-256 of a key of 256 random bits. No slower hash is needed against guessing.
  digest bytea NOT NULL,
  -- The secret before the last replacement, and the end of the time in which it works too.
  previous_digest bytea,
  previous_until timestamp with time zone,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamp with time zone,
  used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  CONSTRAINT api_keys_pkey PRIMARY KEY (id),
  CONSTRAINT api_keys_previous_check CHECK (((previous_digest IS NULL) = (previous_until IS NULL))),
  CONSTRAINT api_keys_scopes_check CHECK (((scopes <@ ARRAY['items:write'::text, 'items:publish'::text, 'media:write'::text, 'push:send'::text, 'admin'::text]) AND (cardinality(scopes) > 0))),
  -- The time that is left is computed.
  CONSTRAINT api_keys_times_check CHECK ((isfinite(expires_at) AND isfinite(previous_until))),
  -- Such a key manages keys and other things without topics.
  CONSTRAINT api_keys_topics_check CHECK (((topics IS NULL) OR (NOT ('admin'::text = ANY (scopes)))))
);

-- Notifies the processes that remember keys of each change by which one may end.
CREATE FUNCTION notify_keys()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
BEGIN
  PERFORM pg_notify('tidings', 'keys');
  RETURN NULL;
END
$$;

CREATE TRIGGER api_keys_notify AFTER DELETE OR UPDATE OF name, scopes, digest, revoked_at, topics, expires_at, previous_digest, previous_until OR TRUNCATE ON api_keys FOR EACH STATEMENT EXECUTE FUNCTION notify_keys();

-- The sessions of the console. The secrets themselves are not stored: a copy of the database opens no session.
CREATE TABLE console_sessions (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  -- SHA-256 of a token of 256 random bits. No slower hash is needed against guessing.
  digest bytea NOT NULL,
  key text COLLATE "C" NOT NULL,
  -- The digest of the key's secret with which the session began. The session ends with this secret.
  key_digest bytea NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  -- The last use. It moves at most once a minute.
  used_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT console_sessions_digest_check CHECK ((octet_length(digest) = 32)),
  CONSTRAINT console_sessions_digest_key UNIQUE (digest),
  CONSTRAINT console_sessions_key_fkey FOREIGN KEY (key) REFERENCES api_keys(id) ON DELETE CASCADE,
  CONSTRAINT console_sessions_pkey PRIMARY KEY (id)
);

CREATE INDEX console_sessions_by_key ON console_sessions USING btree (key);

-- The links that begin a session once. A used link is deleted.
CREATE TABLE console_links (
  digest bytea NOT NULL,
  key text COLLATE "C" NOT NULL,
  -- The digest of the secret that the key had when the link was made.
  key_digest bytea NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT console_links_digest_check CHECK ((octet_length(digest) = 32)),
  CONSTRAINT console_links_key_fkey FOREIGN KEY (key) REFERENCES api_keys(id) ON DELETE CASCADE,
  CONSTRAINT console_links_pkey PRIMARY KEY (digest)
);

CREATE INDEX console_links_by_key ON console_links USING btree (key);

-- Deletes the sessions and links of a key that is revoked, and those of a secret that the key no longer has.
--
-- Locks are acquired in one order: the key, then its sessions and links. Each transaction that deletes several of them
-- locks the key first, as this update does.
CREATE FUNCTION end_console_sessions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
BEGIN
  DELETE FROM console_sessions AS s
    WHERE s.key = NEW.id AND (NEW.revoked_at IS NOT NULL
      OR s.key_digest NOT IN (NEW.digest, coalesce(NEW.previous_digest, NEW.digest)));
  DELETE FROM console_links AS s
    WHERE s.key = NEW.id AND (NEW.revoked_at IS NOT NULL
      OR s.key_digest NOT IN (NEW.digest, coalesce(NEW.previous_digest, NEW.digest)));
  RETURN NULL;
END
$$;

CREATE TRIGGER api_keys_end_sessions AFTER UPDATE OF revoked_at, digest, previous_digest ON api_keys FOR EACH ROW EXECUTE FUNCTION end_console_sessions();

-- The metadata of uploaded files. Their bytes are stored outside the database, by the digest of their content.
CREATE TABLE media (
  -- The id is not derived from the content. Otherwise anyone with a copy of a file could find out that the newsroom has
  -- it.
  id uuid NOT NULL,
  sha256 bytea NOT NULL,
  type text NOT NULL,
  bytes bigint NOT NULL,
  width integer,
  height integer,
  -- The suggested file name for downloads.
  name text,
  created_at timestamp with time zone NOT NULL DEFAULT date_trunc('milliseconds'::text, clock_timestamp()),
  -- The time of the last upload, or of the last end of a use by an item.
  used_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT media_bytes_check CHECK ((bytes > 0)),
  CONSTRAINT media_height_check CHECK ((height > 0)),
  CONSTRAINT media_name_check CHECK (((octet_length(name) >= 1) AND (octet_length(name) <= 255))),
  CONSTRAINT media_pkey PRIMARY KEY (id),
  CONSTRAINT media_sha256_check CHECK ((octet_length(sha256) = 32)),
  -- The same bytes may be audio for one editor and video for another. The type of an address never changes.
  CONSTRAINT media_sha256_type_key UNIQUE (sha256, type),
  CONSTRAINT media_width_check CHECK ((width > 0))
);

CREATE INDEX media_by_use ON media USING btree (used_at);

-- The uses of files by items in any state. `item` has no foreign key: a TRUNCATE of items would then fail for that
-- key, and not for the reason that refuse_truncate() gives.
CREATE TABLE media_uses (
  media uuid NOT NULL,
  item uuid NOT NULL,
  CONSTRAINT media_uses_media_fkey FOREIGN KEY (media) REFERENCES media(id),
  CONSTRAINT media_uses_pkey PRIMARY KEY (media, item)
);

CREATE INDEX media_uses_by_item ON media_uses USING btree (item);

-- The uses of files by published items. Readers get a file while one published item uses it. A single lookup answers
-- whether there is one, however many items use the file.
CREATE TABLE media_publications (
  media uuid NOT NULL,
  item uuid NOT NULL,
  CONSTRAINT media_publications_pkey PRIMARY KEY (media, item)
);

CREATE INDEX media_publications_by_item ON media_publications USING btree (item);

-- The files that readers no longer get. A row is deleted once a published item uses the file again. The row of a
-- removed file is permanent, so that its address answers 410 and not 404.
CREATE TABLE withdrawn_media (
  media uuid NOT NULL,
  -- The state of the item that used the file last, or `removed`.
  reason text NOT NULL,
  CONSTRAINT withdrawn_media_pkey PRIMARY KEY (media),
  CONSTRAINT withdrawn_media_reason_check CHECK ((reason = ANY (ARRAY['retracted'::text, 'expired'::text, 'removed'::text])))
);

-- The ids of the files whose addresses occur in an item, with any host name. A text that only looks like an address
-- keeps a file for longer. A missed address would delete a file that is in use.
CREATE FUNCTION media_in(attachments jsonb, html text, url text)
 RETURNS uuid[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (SELECT COALESCE(array_agg(DISTINCT (found.found[1])::uuid), '{}'::uuid[]) AS "coalesce" FROM regexp_matches(concat_ws(' '::text, (media_in.attachments)::text, media_in.html, media_in.url), '/v1/media/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})'::text, 'gi'::text) found(found));

-- Maintains media_uses, media_publications and withdrawn_media after any write of an item.
--
-- Locks are acquired in one order: the item, files by id, uses. A writer that publishes files shares their locks with
-- other such writers. A writer that ends a use locks the files exclusively, because it must see the uses of all others.
-- A file that is being removed is waited for and is unknown afterwards.
--
-- All lookups are by key, so the planner settings leave only such plans.
CREATE FUNCTION note_media_uses()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $$
DECLARE
  wanted uuid[] := '{}';
  known uuid[] := '{}';
  released uuid[] := '{}';
  hidden uuid[] := '{}';
  is_public boolean := false;
BEGIN
  IF TG_OP <> 'DELETE' THEN
    wanted := media_in(NEW.attachments, NEW.html, NEW.url);
    is_public := NEW.state = 'published';
  END IF;
  IF TG_OP <> 'INSERT' THEN
    released := ARRAY(SELECT u.media FROM media_uses AS u WHERE u.item = OLD.id AND u.media <> ALL (wanted));
    hidden := ARRAY(
      SELECT p.media FROM media_publications AS p WHERE p.item = OLD.id AND (NOT is_public OR p.media <> ALL (wanted)));
  END IF;
  IF TG_OP <> 'DELETE' THEN
    IF NEW.state IN ('retracted', 'expired') THEN
      hidden := hidden || wanted;
    END IF;
  END IF;

  IF cardinality(released) + cardinality(hidden) > 0 THEN
    PERFORM 1 FROM media AS m WHERE m.id = ANY (released || hidden) ORDER BY m.id FOR NO KEY UPDATE;
  END IF;
  IF cardinality(wanted) > 0 THEN
    IF is_public THEN
      known := ARRAY(SELECT m.id FROM media AS m WHERE m.id = ANY (wanted) ORDER BY m.id FOR SHARE);
      INSERT INTO media_publications (media, item) SELECT unnest(known), NEW.id ON CONFLICT DO NOTHING;
      DELETE FROM withdrawn_media AS w WHERE w.media = ANY (known);
    ELSE
      known := ARRAY(SELECT m.id FROM media AS m WHERE m.id = ANY (wanted) ORDER BY m.id FOR KEY SHARE);
    END IF;
    INSERT INTO media_uses (media, item) SELECT unnest(known), NEW.id ON CONFLICT DO NOTHING;
  END IF;

  IF cardinality(released) > 0 THEN
    DELETE FROM media_uses AS u WHERE u.item = OLD.id AND u.media = ANY (released);
    UPDATE media AS m SET used_at = clock_timestamp() WHERE m.id = ANY (released);
  END IF;
  IF cardinality(hidden) > 0 THEN
    IF TG_OP <> 'INSERT' THEN
      DELETE FROM media_publications AS p WHERE p.item = OLD.id AND p.media = ANY (hidden);
    END IF;
    INSERT INTO withdrawn_media (media, reason)
      SELECT m.id, last.state
        FROM media AS m CROSS JOIN LATERAL (
          SELECT i.state FROM media_uses AS u JOIN items AS i ON i.id = u.item
            WHERE u.media = m.id AND i.state IN ('retracted', 'expired') ORDER BY u.item DESC LIMIT 1
        ) AS last
        WHERE m.id = ANY (hidden) AND NOT EXISTS (SELECT 1 FROM media_publications AS p WHERE p.media = m.id)
      ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER items_inserted_with_media AFTER INSERT ON items FOR EACH ROW WHEN (((new.attachments <> '[]'::jsonb) OR (new.html ~~ '%/media/%'::text) OR (new.url ~~ '%/media/%'::text))) EXECUTE FUNCTION note_media_uses();

CREATE TRIGGER items_updated_with_media AFTER UPDATE ON items FOR EACH ROW WHEN (((((old.attachments IS DISTINCT FROM new.attachments) OR (old.html IS DISTINCT FROM new.html)) OR (old.url IS DISTINCT FROM new.url)) OR (old.state IS DISTINCT FROM new.state))) EXECUTE FUNCTION note_media_uses();

CREATE TRIGGER items_deleted_with_media AFTER DELETE ON items FOR EACH ROW EXECUTE FUNCTION note_media_uses();

-- Uploads of files that continue over several requests. Their bytes are in the folder of files, as `part-ID`.
CREATE TABLE media_uploads (
  id uuid NOT NULL,
  -- The key that has begun the upload, and that alone may continue it.
  api_key text COLLATE "C" NOT NULL,
  -- The media type that the sender declares.
  type text NOT NULL,
  name text,
  -- The SHA-256 digest that the sender declares.
  sha256 bytea,
  -- The number of bytes that the sender declares.
  length bigint,
  -- The number of bytes that are on disk.
  received bigint NOT NULL DEFAULT 0,
  -- The registered file; NULL until the upload is complete. The row stays, so that a sender that has missed the
  -- response can ask for it.
  media uuid,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  -- The time after which the upload is removed. Each progress postpones it.
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT media_uploads_api_key_fkey FOREIGN KEY (api_key) REFERENCES api_keys(id) ON DELETE CASCADE,
  CONSTRAINT media_uploads_length_check CHECK ((length > 0)),
  CONSTRAINT media_uploads_name_check CHECK (((octet_length(name) >= 1) AND (octet_length(name) <= 255))),
  CONSTRAINT media_uploads_pkey PRIMARY KEY (id),
  CONSTRAINT media_uploads_received_check CHECK ((received >= 0)),
  CONSTRAINT media_uploads_sha256_check CHECK ((octet_length(sha256) = 32))
);

CREATE INDEX media_uploads_by_key ON media_uploads USING btree (api_key) WHERE (media IS NULL);

CREATE INDEX media_uploads_by_expiry ON media_uploads USING btree (expires_at);

-- The library whose folder belongs to this database; no row before the first start of a server. The folder has a copy
-- of the row. Files are accepted and removed only while both are equal and the row was written in this database: another
-- database has another row, and a restored dump or a copy of the database has the row but other oids.
--
-- The timeline is not compared, because the files remain those of the database after a promotion and after a
-- point-in-time restore.
CREATE TABLE media_library (
  is_only boolean NOT NULL DEFAULT true,
  -- A random id, which each adoption and `tidings epoch new` replace.
  id uuid NOT NULL,
  system_identifier text NOT NULL,
  database_oid bigint NOT NULL,
  -- The oid of `media`: a dump that is restored into its own database creates the table again.
  table_oid bigint NOT NULL,
  -- The time at which an operator adopted the folder; NULL for an adoption by a server.
  adopted_at timestamp with time zone,
  CONSTRAINT media_library_is_only_check CHECK (is_only),
  CONSTRAINT media_library_pkey PRIMARY KEY (is_only)
);

-- The files that are to be removed, each from a time on. A file is removed for such a row only, never because rows
-- are missing:
--
-- - An upload adds a row before its file is put in place, due a day later. The registration of the file deletes the row.
-- - The deletion of a row of `media` adds a row that is due at once.
--
-- The bytes of a due file remain if a row of `media` has the same content.
CREATE TABLE media_removals (
  -- The id that the file had or was to have.
  media uuid NOT NULL,
  sha256 bytea NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  due_at timestamp with time zone NOT NULL,
  CONSTRAINT media_removals_pkey PRIMARY KEY (media),
  CONSTRAINT media_removals_sha256_check CHECK ((octet_length(sha256) = 32))
);

CREATE INDEX media_removals_by_time ON media_removals USING btree (due_at);

-- Has the file of a deleted row removed.
CREATE FUNCTION note_media_removal()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
BEGIN
  INSERT INTO media_removals (media, sha256, due_at) VALUES (OLD.id, OLD.sha256, clock_timestamp())
    ON CONFLICT (media) DO UPDATE SET created_at = clock_timestamp(), due_at = EXCLUDED.due_at;
  RETURN NULL;
END
$$;

CREATE TRIGGER media_deleted AFTER DELETE ON media FOR EACH ROW EXECUTE FUNCTION note_media_removal();

-- Deletes the rows of files that no item has used for an age, 0 to `most` of them. Returns the number of deleted
-- rows; 0 means that none is left.
--
-- The age counts from the latest point at which the database may have lost uses: a restore, a promotion, or the adoption
-- of a folder. Items that used the file may have been lost, and editors need time to write them again.
CREATE FUNCTION forget_media(age interval, most integer DEFAULT 500)
 RETURNS integer
 LANGUAGE plpgsql
AS $$
DECLARE
  unused uuid[];
  forgotten integer;
  settled timestamptz := greatest(
    (SELECT max(e.created_at) FROM epochs AS e WHERE e.number > 1 AND e.starts_after > 0),
    (SELECT l.adopted_at FROM media_library AS l));
BEGIN
  IF settled >= clock_timestamp() - age THEN
    RETURN 0;
  END IF;
  SELECT array_agg(chosen.id) INTO unused FROM (
    SELECT m.id FROM media AS m
      WHERE m.used_at < clock_timestamp() - age AND NOT EXISTS (SELECT 1 FROM media_uses AS u WHERE u.media = m.id)
      ORDER BY m.used_at LIMIT most FOR UPDATE SKIP LOCKED
  ) AS chosen;
  -- With the rows locked, no new use can begin, and this statement sees all earlier ones.
  DELETE FROM media AS m
    WHERE m.id = ANY (unused) AND m.used_at < clock_timestamp() - age
      AND NOT EXISTS (SELECT 1 FROM media_uses AS u WHERE u.media = m.id);
  GET DIAGNOSTICS forgotten = ROW_COUNT;
  RETURN forgotten;
END
$$;

-- The external feeds that the servers follow. Polls write the columns from `next_poll` on, without a new revision.
CREATE TABLE subscriptions (
  id uuid NOT NULL,
  -- The normal form of the address. A permanent redirect replaces it.
  url text NOT NULL,
  title text,
  -- The topics of new items; without any, they are made from the categories of the feed.
  topics text[] NOT NULL DEFAULT '{}'::text[],
  -- The state of new items.
  state text NOT NULL,
  -- The language of entries that name none.
  language text,
  paused boolean NOT NULL DEFAULT false,
  -- The user for HTTP Basic.
  user_name text,
  -- The password with the origin that it is for, encrypted with a key from the settings.
  sealed_password bytea,
  revision bigint NOT NULL DEFAULT 1,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  next_poll timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  -- The end of the wait that the server of the feed has demanded (`Retry-After`).
  not_before timestamp with time zone,
  -- Whether a poll was asked for. A poll that is under way may have read the feed before, so that another one follows
  -- it.
  poll_wanted boolean NOT NULL DEFAULT false,
  -- The poll that is under way. If its process dies, another one may poll after this time.
  lease uuid,
  leased_until timestamp with time zone,
  last_success timestamp with time zone,
  error_at timestamp with time zone,
  error_status bigint,
  error_message text,
  -- The number of failures since the last success.
  failures bigint NOT NULL DEFAULT 0,
  -- The validators of the last response.
  etag text,
  last_modified text,
  -- The cadence of the feed, as its follower has written it.
  pacing jsonb,
  -- The number of new items since the start of a period of a day, in which it is bounded.
  new_items bigint NOT NULL DEFAULT 0,
  new_items_since timestamp with time zone,
  -- The losses of the last poll that has read the feed: its time, their number, the first messages.
  losses jsonb,
  -- The hubs that the feed names, in its order, and the address under which they know the feed.
  hubs text[] NOT NULL DEFAULT '{}'::text[],
  hub_topic text,
  -- The last notice of a hub. A poll that began before it may have missed the change.
  pushed_at timestamp with time zone,
  -- The time at which the next poll would be without a hub; NULL unless it is delayed because a hub notifies.
  regular_poll timestamp with time zone,
  CONSTRAINT subscriptions_check CHECK (((sealed_password IS NULL) = (user_name IS NULL))),
  CONSTRAINT subscriptions_not_before_check CHECK (isfinite(not_before)),
  CONSTRAINT subscriptions_pkey PRIMARY KEY (id),
  CONSTRAINT subscriptions_state_check CHECK ((state = ANY (ARRAY['draft'::text, 'published'::text]))),
  CONSTRAINT subscriptions_title_check CHECK ((octet_length(title) <= 1024)),
  CONSTRAINT subscriptions_url_check CHECK ((octet_length(url) <= 2048)),
  CONSTRAINT subscriptions_url_key UNIQUE (url),
  CONSTRAINT subscriptions_user_name_check CHECK ((octet_length(user_name) <= 256))
);

CREATE INDEX subscriptions_due ON subscriptions USING btree (next_poll) WHERE (NOT paused);

-- The names of entries that do not lead to the item with the id that is made from the name.
CREATE TABLE entry_names (
  -- The UUID that is made from the source and the name of the entry.
  name uuid NOT NULL,
  -- The item that was imported under another name of its entry. NULL if the name has named different entries: their
  -- links identify them.
  item uuid,
  CONSTRAINT entry_names_pkey PRIMARY KEY (name)
);

-- The leases at hubs. Each has a callback of its own, so that a hub cannot confuse the end of one with the beginning
-- of another.
CREATE TABLE hub_leases (
  -- The last part of the callback: 128 random bits in base64url.
  token text COLLATE "C" NOT NULL,
  -- NULL after the subscription was deleted.
  subscription uuid,
  hub text NOT NULL,
  topic text NOT NULL,
  callback text NOT NULL,
  -- The key of the signatures of notices.
  secret text NOT NULL,
  -- `pending` until the hub has confirmed the lease, `ending` from the time at which it is not wanted any more.
  state text NOT NULL,
  -- The last request, and the last confirmation. A hub can confirm only what it was asked.
  asked_at timestamp with time zone,
  confirmed_at timestamp with time zone,
  -- Whether the hub has accepted the last request and has not confirmed it.
  awaited boolean NOT NULL DEFAULT false,
  -- The end of the lease at the hub.
  expires_at timestamp with time zone,
  next_request timestamp with time zone NOT NULL,
  -- The number of failures since the last confirmation, and the last of them.
  failures bigint NOT NULL DEFAULT 0,
  error text,
  -- The request that is under way. If its process dies, another one may send it again after this time.
  lease uuid,
  leased_until timestamp with time zone,
  CONSTRAINT hub_leases_pkey PRIMARY KEY (token),
  CONSTRAINT hub_leases_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'active'::text, 'ending'::text]))),
  CONSTRAINT hub_leases_subscription_fkey FOREIGN KEY (subscription) REFERENCES subscriptions(id) ON DELETE SET NULL,
  CONSTRAINT hub_leases_token_check CHECK ((token ~ '^[A-Za-z0-9_-]{22}$'::text))
);

CREATE UNIQUE INDEX hub_leases_current ON hub_leases USING btree (subscription) WHERE (state <> 'ending'::text);

CREATE INDEX hub_leases_due ON hub_leases USING btree (next_request);

-- The hubs to which changed feeds of this installation are announced.
CREATE TABLE announcing_hubs (
  hub text NOT NULL,
  next_request timestamp with time zone NOT NULL,
  -- The number of failures since the last success.
  failures bigint NOT NULL DEFAULT 0,
  -- The process that announces. If it dies, another one may announce after this time.
  lease uuid,
  leased_until timestamp with time zone,
  CONSTRAINT announcing_hubs_pkey PRIMARY KEY (hub)
);

-- The announcements of changed feeds. The log has the versions of the feeds, so that a publication writes nothing
-- here: a feed is announced until the version that was announced is its current one.
CREATE TABLE announcements (
  hub text NOT NULL,
  -- The address of the feed.
  url text NOT NULL,
  -- The version of its scope that was announced; 0 before the first.
  version bigint NOT NULL,
  -- The number of refusals since the last success.
  failures bigint NOT NULL DEFAULT 0,
  CONSTRAINT announcements_hub_fkey FOREIGN KEY (hub) REFERENCES announcing_hubs(hub) ON DELETE CASCADE,
  CONSTRAINT announcements_pkey PRIMARY KEY (hub, url)
);

-- The devices that receive pushes. Nothing here says whose they are.
CREATE TABLE devices (
  -- A random id. Batches of devices are those after an id, so the ids of a provider or of a day must not lie together.
  id uuid NOT NULL,
  -- SHA-256 of a secret of 256 random bits. No slower hash is needed against guessing.
  secret_digest bytea NOT NULL,
  provider text NOT NULL,
  kind text NOT NULL,
  -- The device token, the registration token, or the endpoint. It opens the device to whoever has it.
  address text NOT NULL,
  -- SHA-256 of provider, environment, app and address, by which an address is found again.
  address_digest bytea NOT NULL,
  -- The host of the endpoint; NULL for other providers.
  host text COLLATE "C",
  -- The keys of the receiver (RFC 8291); NULL for other providers.
  p256dh bytea,
  auth bytea,
  -- The bundle id of the app. Only APNs needs it, and has an environment.
  app text,
  environment text,
  -- NULL for the feed. When the last topic that the device follows is deleted, the array is empty, and it follows
  -- nothing.
  topics text[] COLLATE "C",
  -- In lower case; NULL for all languages.
  languages text[] COLLATE "C",
  alerts boolean NOT NULL,
  -- A name of the IANA database; NULL for UTC.
  time_zone text,
  -- Minutes of the day in that zone.
  quiet_from integer,
  quiet_to integer,
  -- `pending` until the device has returned the code of its first push, which only Web Push requires.
  state text NOT NULL,
  -- SHA-256 of the code; NULL before the first push. It stays, so that the device may repeat its request.
  confirmation bytea,
  created_at timestamp with time zone NOT NULL,
  -- The last registration.
  registered_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  -- The last report of the news that the device has, and the push that it has named.
  reported_epoch text,
  reported_version bigint,
  reported_at timestamp with time zone,
  reported_push uuid,
  -- The last refusal of the address, and the number of refusals since the last message that was accepted.
  token_error text,
  token_error_at timestamp with time zone,
  token_errors bigint NOT NULL DEFAULT 0,
  -- Whether the push service has accepted a message to the present address of the device. Anyone can register an
  -- address that its service refuses, so only a refusal of a device with `accepted` says something about our keys.
  accepted boolean NOT NULL DEFAULT false,
  -- The network of a client that has registered a pending device: 24 bits of an IPv4 address, 64 of an IPv6 address.
  -- Registrations of one network replace each other when a push service has too many that are pending. It is deleted as
  -- soon as the device has returned its code, or with the device after an hour.
  network cidr,
  CONSTRAINT devices_address_digest_check CHECK ((octet_length(address_digest) = 32)),
  CONSTRAINT devices_address_digest_key UNIQUE (address_digest),
  CONSTRAINT devices_apns_check CHECK ((((provider <> 'apns'::text) OR (app IS NOT NULL)) AND ((provider = 'apns'::text) = (environment IS NOT NULL)))),
  CONSTRAINT devices_confirmation_check CHECK ((octet_length(confirmation) = 32)),
  CONSTRAINT devices_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text]))),
  CONSTRAINT devices_keys_check CHECK ((((provider = 'webpush'::text) = (p256dh IS NOT NULL)) AND ((provider = 'webpush'::text) = (auth IS NOT NULL)) AND ((provider = 'webpush'::text) = (host IS NOT NULL)))),
  CONSTRAINT devices_kind_check CHECK ((kind = ANY (ARRAY['app'::text, 'unifiedpush'::text, 'browser'::text]))),
  CONSTRAINT devices_languages_check CHECK ((cardinality(languages) > 0)),
  CONSTRAINT devices_pkey PRIMARY KEY (id),
  CONSTRAINT devices_provider_check CHECK ((provider = ANY (ARRAY['apns'::text, 'fcm'::text, 'webpush'::text]))),
  CONSTRAINT devices_quiet_check CHECK ((((quiet_from IS NULL) = (quiet_to IS NULL)) AND (quiet_from <> quiet_to))),
  CONSTRAINT devices_quiet_from_check CHECK (((quiet_from >= 0) AND (quiet_from <= 1439))),
  CONSTRAINT devices_quiet_to_check CHECK (((quiet_to >= 0) AND (quiet_to <= 1439))),
  CONSTRAINT devices_report_check CHECK (((reported_epoch IS NULL) = (reported_version IS NULL))),
  CONSTRAINT devices_secret_digest_check CHECK ((octet_length(secret_digest) = 32)),
  CONSTRAINT devices_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'active'::text])))
) WITH (fillfactor=85, autovacuum_vacuum_scale_factor=0.05);

CREATE INDEX devices_pending ON devices USING btree (host) WHERE (state = 'pending'::text);

CREATE INDEX devices_by_expiry ON devices USING btree (expires_at);

-- The end of the quiet hours in which a moment lies, in a time zone; NULL if it does not lie in quiet hours. The
-- hours are those of the local clock, also on a day on which it is moved. A time that the clock skips is that much
-- later, and of a time that it shows twice the second one counts (PostgreSQL, section 8.5.3).
--
-- A zone that the server does not know is one that it has known before: the device has no quiet hours then, and all
-- others are still served.
CREATE FUNCTION quiet_until(moment timestamp with time zone, zone text, quiet_from integer, quiet_to integer)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 STABLE
AS $$
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

-- The requests of editors for alerts. An item has one, ever, so that no edit and no retry can repeat it. A trigger
-- deletes it with the item.
CREATE TABLE item_alerts (
  item uuid NOT NULL,
  editor text,
  requested_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  -- `waiting` until the item is published, `cancelled` if it was taken down before or after.
  state text NOT NULL DEFAULT 'waiting'::text,
  -- The alert.
  push uuid,
  CONSTRAINT item_alerts_pkey PRIMARY KEY (item),
  CONSTRAINT item_alerts_push_check CHECK (((state <> 'released'::text) OR (push IS NOT NULL))),
  CONSTRAINT item_alerts_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'released'::text, 'cancelled'::text])))
);

-- The pushes of the last 30 days, each to many devices.
CREATE TABLE pushes (
  id uuid NOT NULL,
  kind text NOT NULL,
  -- The newest item. Items have no foreign key here, because a publication must not wait for pushes.
  item uuid,
  -- The version that a device has if it need not be woken. Versions are comparable within one epoch only.
  epoch text NOT NULL,
  version bigint NOT NULL,
  -- The topics with changes. Devices that follow the feed are in each audience.
  scopes text[] COLLATE "C" NOT NULL,
  -- The visible part: title, body, url, language, breaking. NULL for other pushes, and after the item was erased.
  content jsonb,
  created_at timestamp with time zone NOT NULL,
  -- The end of the time in which further changes join a silent push.
  starts_at timestamp with time zone NOT NULL,
  fan_out_started_at timestamp with time zone,
  -- The last device of the last batch; NULL before the first.
  last_device uuid,
  fanned_out_at timestamp with time zone,
  cancelled_at timestamp with time zone,
  -- The number of devices so far.
  audience bigint NOT NULL DEFAULT 0,
  CONSTRAINT pushes_kind_check CHECK ((kind = ANY (ARRAY['silent'::text, 'alert'::text, 'retraction'::text]))),
  CONSTRAINT pushes_pkey PRIMARY KEY (id)
) WITH (fillfactor=50);

-- One silent push collects the changes of all processes until it starts.
CREATE UNIQUE INDEX pushes_collecting ON pushes USING btree (kind) WHERE ((kind = 'silent'::text) AND (fan_out_started_at IS NULL));

CREATE INDEX pushes_active ON pushes USING btree (starts_at) WHERE (fanned_out_at IS NULL);

CREATE INDEX pushes_by_age ON pushes USING btree (created_at, id);

CREATE INDEX pushes_by_item ON pushes USING btree (item);

-- The outcomes of the messages of a push. They are a table of their own because the fan-out locks rows of `pushes`,
-- which must delay no record of outcomes.
CREATE TABLE push_results (
  push uuid NOT NULL,
  sent bigint NOT NULL DEFAULT 0,
  refused bigint NOT NULL DEFAULT 0,
  gone bigint NOT NULL DEFAULT 0,
  dropped bigint NOT NULL DEFAULT 0,
  reports bigint NOT NULL DEFAULT 0,
  woke bigint NOT NULL DEFAULT 0,
  found_news bigint NOT NULL DEFAULT 0,
  last_sent_at timestamp with time zone,
  CONSTRAINT push_results_pkey PRIMARY KEY (push),
  CONSTRAINT push_results_push_fkey FOREIGN KEY (push) REFERENCES pushes(id) ON DELETE CASCADE
) WITH (fillfactor=50);

-- The push services that are paused, because they refuse too many addresses, and those that refuse the keys of the
-- server.
CREATE TABLE push_providers (
  provider text NOT NULL,
  -- NULL if it is not paused.
  paused_until timestamp with time zone,
  reason text,
  -- The number of pauses since the last success.
  pauses bigint NOT NULL DEFAULT 0,
  changed_at timestamp with time zone NOT NULL,
  -- The last answer that refused the keys of the server, or the messages of all devices so far; NULL if the service has
  -- accepted a message since.
  refusal text,
  refused_at timestamp with time zone,
  CONSTRAINT push_providers_pkey PRIMARY KEY (provider),
  CONSTRAINT push_providers_provider_check CHECK ((provider = ANY (ARRAY['apns'::text, 'fcm'::text, 'webpush'::text]))),
  CONSTRAINT push_providers_refusal_check CHECK (((refusal IS NULL) = (refused_at IS NULL)))
);

-- The silent push that a device is owed. It has one row, so that it is owed one at most: a later push takes the place
-- of an earlier one. Devices have no foreign key here, because its checks would double the cost of a batch and have it
-- wait for registrations. A row of a device that is gone is deleted with the next leases.
CREATE TABLE deliveries (
  device uuid NOT NULL,
  provider text NOT NULL,
  -- The push; NULL if none is owed, and for the first push of a pending device, which carries its code.
  push uuid,
  -- The time at which the message may be sent; NULL if none is owed. A lease sets it to its own end, so that
  -- the lease of a dead process ends by itself.
  due_at timestamp with time zone,
  -- The lease of the process that sends the message.
  lease uuid,
  -- The number of failures of this message.
  attempts bigint NOT NULL DEFAULT 0,
  -- The times of the messages of the last hour, oldest first.
  sent timestamp with time zone[] NOT NULL DEFAULT '{}'::timestamp with time zone[],
  -- The time at which a push may be sent that has taken the place of a leased one; NULL for any time.
  next_at timestamp with time zone,
  -- The first failure of a message that is still owed, because its service did not answer or has failed; NULL for none.
  -- Each attempt moves `due_at`, which therefore does not say how late the message is.
  failing_since timestamp with time zone,
  CONSTRAINT deliveries_pkey PRIMARY KEY (device)
) WITH (fillfactor=70, autovacuum_vacuum_scale_factor=0.05);

CREATE INDEX deliveries_due ON deliveries USING btree (provider, due_at) WHERE (due_at IS NOT NULL);

-- The alerts that devices are owed. A row is deleted when it is done.
CREATE TABLE alert_deliveries (
  device uuid NOT NULL,
  push uuid NOT NULL,
  provider text NOT NULL,
  due_at timestamp with time zone NOT NULL,
  lease uuid,
  attempts bigint NOT NULL DEFAULT 0,
  -- As in `deliveries`.
  failing_since timestamp with time zone,
  CONSTRAINT alert_deliveries_pkey PRIMARY KEY (device, push)
) WITH (fillfactor=70, autovacuum_vacuum_scale_factor=0.05);

CREATE INDEX alert_deliveries_due ON alert_deliveries USING btree (provider, due_at);

-- Deletes what removed devices are owed.
CREATE FUNCTION forget_deliveries()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
BEGIN
  DELETE FROM deliveries AS d USING removed AS r WHERE d.device = r.id;
  DELETE FROM alert_deliveries AS d USING removed AS r WHERE d.device = r.id;
  RETURN NULL;
END
$$;

CREATE TRIGGER devices_forget_deliveries AFTER DELETE ON devices REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION forget_deliveries();

-- Erases the texts of alerts for an item that is erased, and with a deleted item the request too. The outbox has no
-- texts.
CREATE FUNCTION forget_alerts()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
BEGIN
  UPDATE pushes SET content = NULL WHERE item = OLD.id AND content IS NOT NULL;
  IF TG_OP = 'DELETE' THEN
    DELETE FROM item_alerts WHERE item = OLD.id;
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER items_forget_alerts AFTER UPDATE OF erased_at ON items FOR EACH ROW WHEN (((new.erased_at IS NOT NULL) AND (old.erased_at IS NULL))) EXECUTE FUNCTION forget_alerts();

CREATE TRIGGER items_forget_alerts_at_end AFTER DELETE ON items FOR EACH ROW EXECUTE FUNCTION forget_alerts();

-- The programs that receive a signed request for each change of an item (Standard Webhooks 1.0).
CREATE TABLE webhooks (
  id uuid NOT NULL,
  -- The address in its normal form.
  url text NOT NULL,
  -- The host of the address without its port. A host receives one request at a time.
  host text NOT NULL GENERATED ALWAYS AS (regexp_replace(split_part(url, '/'::text, 3), ':[0-9]+$'::text, ''::text)) STORED,
  -- The types of events, such as `item.changed`.
  events text[] NOT NULL,
  -- The topics of the items; NULL for all items. If all of the topics are deleted, the array is empty, and no event
  -- fits.
  topics text[] COLLATE "C",
  -- The key of signatures, as its receiver has it: `whsec_` and base64. Unlike the digest of an API key, it is needed
  -- to sign.
  secret text NOT NULL,
  -- The secret before the last rotation, and the end of the time in which it signs too.
  previous_secret text,
  previous_until timestamp with time zone,
  paused boolean NOT NULL DEFAULT false,
  -- The reason for which the server has paused the webhook; NULL if an editor has.
  disabled_reason text,
  revision bigint NOT NULL DEFAULT 1,
  created_at timestamp with time zone NOT NULL,
  last_success timestamp with time zone,
  -- The first failure since the last success.
  failing_since timestamp with time zone,
  -- The time before which the receiver asks for no request at all (`Retry-After`).
  not_before timestamp with time zone,
  CONSTRAINT webhooks_disabled_check CHECK ((paused OR (disabled_reason IS NULL))),
  CONSTRAINT webhooks_disabled_reason_check CHECK ((disabled_reason = ANY (ARRAY['gone'::text, 'failing'::text]))),
  CONSTRAINT webhooks_events_check CHECK ((cardinality(events) > 0)),
  CONSTRAINT webhooks_pkey PRIMARY KEY (id),
  CONSTRAINT webhooks_previous_check CHECK (((previous_secret IS NULL) = (previous_until IS NULL)))
);

-- One row for each event and webhook, which stays for 30 days as a log. It has no texts of the item.
CREATE TABLE webhook_deliveries (
  -- The value of `webhook-id`, the same in all attempts.
  id uuid NOT NULL,
  webhook uuid NOT NULL,
  -- The type of the event and its time.
  event text NOT NULL,
  at timestamp with time zone NOT NULL,
  -- The item, its version, the token of the feed at this version, and the topics whose lists have changed; NULL for a
  -- test. There is no foreign key, because the rows are written after the item, which may be deleted meanwhile.
  item uuid,
  version bigint,
  token text,
  topics text[] COLLATE "C",
  -- The address of the item's JSON; NULL without a public address.
  url text,
  created_at timestamp with time zone NOT NULL,
  state text NOT NULL,
  -- The time of the next attempt. A lease sets it to its own end, so that the lease of a dead process ends by
  -- itself.
  due_at timestamp with time zone,
  -- The attempt that is under way.
  lease uuid,
  -- The number of attempts, and the number of failures since the creation or the last replay.
  attempts bigint NOT NULL DEFAULT 0,
  failures bigint NOT NULL DEFAULT 0,
  CONSTRAINT webhook_deliveries_due_check CHECK (((state = 'due'::text) = (due_at IS NOT NULL))),
  CONSTRAINT webhook_deliveries_item_check CHECK ((num_nulls(item, version, token, topics) = ANY (ARRAY[0, 4]))),
  CONSTRAINT webhook_deliveries_lease_check CHECK (((lease IS NULL) OR (state = 'due'::text))),
  CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id),
  CONSTRAINT webhook_deliveries_state_check CHECK ((state = ANY (ARRAY['due'::text, 'delivered'::text, 'failed'::text]))),
  CONSTRAINT webhook_deliveries_webhook_fkey FOREIGN KEY (webhook) REFERENCES webhooks(id) ON DELETE CASCADE
);

CREATE INDEX webhook_deliveries_due ON webhook_deliveries USING btree (webhook, due_at, version) WHERE (due_at IS NOT NULL);

CREATE INDEX webhook_deliveries_leased ON webhook_deliveries USING btree (webhook) WHERE (lease IS NOT NULL);

CREATE INDEX webhook_deliveries_log ON webhook_deliveries USING btree (webhook, created_at, id);

CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries USING btree (created_at);

CREATE INDEX webhook_deliveries_by_item ON webhook_deliveries USING btree (item);

-- The attempts to deliver an event.
CREATE TABLE webhook_attempts (
  delivery uuid NOT NULL,
  -- The number of the attempt, from 1.
  number bigint NOT NULL,
  at timestamp with time zone NOT NULL,
  -- The status of the response; NULL without one.
  status bigint,
  milliseconds bigint NOT NULL,
  -- The reason of a failure, in words.
  error text,
  CONSTRAINT webhook_attempts_delivery_fkey FOREIGN KEY (delivery) REFERENCES webhook_deliveries(id) ON DELETE CASCADE,
  CONSTRAINT webhook_attempts_pkey PRIMARY KEY (delivery, number)
);

-- Deletes the log of an item that is erased or deleted. An erased item is retracted, and receivers that do not know
-- it yet are still notified; the outcome of the last attempt then deletes the row.
CREATE FUNCTION forget_webhook_log()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
BEGIN
  DELETE FROM webhook_deliveries AS d
    WHERE d.item = OLD.id
      AND NOT (TG_OP = 'UPDATE' AND d.state = 'due' AND d.event IN ('item.retracted', 'item.expired'));
  RETURN NULL;
END
$$;

CREATE TRIGGER items_forget_webhook_log AFTER UPDATE OF erased_at ON items FOR EACH ROW WHEN (((new.erased_at IS NOT NULL) AND (old.erased_at IS NULL))) EXECUTE FUNCTION forget_webhook_log();

CREATE TRIGGER items_forget_webhook_log_at_end AFTER DELETE ON items FOR EACH ROW EXECUTE FUNCTION forget_webhook_log();
