// Made by scripts/embed from migrations/0001_topics_and_items.sql; do not edit.
// swift-format-ignore-file

let migration0001 = #"""
-- Items and topics: the values computed from an item, the tables, search, and revisions.
--
-- The migration runner executes each file in one transaction, under an advisory lock. docs/schema.sql shows the
-- schema after all files, with its comments.
--
-- pg_restore rebuilds generated columns and expression indexes with an empty search path. A function whose body is
-- text cannot find other functions of this schema there. Functions that call others therefore have a body that is
-- parsed at creation (RETURN; PostgreSQL, CREATE FUNCTION), or call functions of pg_catalog only. Since PostgreSQL 17
-- the same holds for CREATE INDEX.
--
-- PostgreSQL plans the body of an SQL function in every statement that calls it, unless the body becomes a part of the
-- calling expression (inlining), which is only possible for a single expression whose functions are all IMMUTABLE. A
-- PL/pgSQL function keeps its plans for the session.

------------------------------------------------------------------------------------------------------------------
-- Values computed from an item
------------------------------------------------------------------------------------------------------------------

CREATE FUNCTION item_digest(
  date_ms bigint, title text, summary text, text text, html text, topics text[], language text, url text,
  author text, breaking boolean, attachments jsonb
) RETURNS bytea LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN substr(sha256(convert_to(jsonb_build_array(
    date_ms, title, summary, text, html, to_jsonb(topics), language, url, author, breaking, attachments)::text,
    'UTF8')), 1, 16);
END
$$;

COMMENT ON FUNCTION item_digest IS
  'A digest of the fields that readers can see, 16 bytes. An edit that leaves it unchanged is invisible to readers. A
JSON array distinguishes NULL from '''' and quotes separators. jsonb_build_array() is only STABLE, because the text
form of some types depends on settings. No argument here has such a type.';

CREATE FUNCTION milliseconds(moment timestamptz) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN (extract(epoch FROM moment AT TIME ZONE 'UTC') * 1000)::bigint;

COMMENT ON FUNCTION milliseconds IS
  'Milliseconds since 1970, the resolution in which dates are stored and sent. extract() of a timestamp without a time
zone is IMMUTABLE. Inlined.';

CREATE FUNCTION json_size(value text) RETURNS integer LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN coalesce(octet_length(to_json(value)::text), 0);
END
$$;

COMMENT ON FUNCTION json_size IS
  'The size of a text as JSON in bytes, with quotes and escapes; 0 for NULL. to_json() is only STABLE, because the
text form of some types depends on settings. That of text does not.';

CREATE FUNCTION json_list_size(list text[]) RETURNS integer LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN octet_length(array_to_string(list, '","'));
END
$$;

COMMENT ON FUNCTION json_list_size IS
  'The size of texts that need no escapes as JSON in bytes, without the first and the last quote. array_to_string() is
only STABLE, because the text form of some types depends on settings. That of text does not.';

CREATE FUNCTION item_size(
  title text, summary text, text text, topics text[], url text, author text, attachments jsonb
) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN 700 + json_size(title) + json_size(summary) + json_size(text) + json_size(url) + json_size(author)
  + json_list_size(topics) + octet_length(attachments::text);

COMMENT ON FUNCTION item_size IS
  'An upper bound for the size of an item as JSON in bytes, without `html`. 700 bytes cover the names of all fields
and the fields of fixed length. Inlined.';

------------------------------------------------------------------------------------------------------------------
-- Scopes
------------------------------------------------------------------------------------------------------------------

CREATE TABLE scopes (
  scope text COLLATE "C" PRIMARY KEY CHECK (scope ~ '^([a-z0-9-]{1,64})?$'),
  version bigint NOT NULL DEFAULT 0 CHECK (version BETWEEN 0 AND 101559956668415),
  changed_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  shifted_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  floor bigint NOT NULL DEFAULT 0 CHECK (floor >= 0),
  items bigint NOT NULL DEFAULT 0 CHECK (items >= 0),
  published bigint NOT NULL DEFAULT 0 CHECK (published >= 0),
  CONSTRAINT scopes_floor_reached CHECK (floor <= version)
) WITH (fillfactor = 50);

COMMENT ON TABLE scopes IS
  'The scopes that readers can follow: the feed (scope '''') and each topic (scope = its slug). The row of the feed is
the version counter. publish() locks it last and until the commit, so that the order of versions is the order of
commits, without gaps. Only publish() and purge_log() update this table.';
COMMENT ON COLUMN scopes.version IS
  'The version of the last change in the scope; 0 before the first. A token has room for nine digits of base 36.';
COMMENT ON COLUMN scopes.shifted_at IS
  'The last time when an item left the scope, or changed a field by which lists filter or sort. A page may then have
changed although no item on it was updated.';
COMMENT ON COLUMN scopes.floor IS
  'The purge floor: tombstones up to this version may have been purged. A token below it has expired.';
COMMENT ON COLUMN scopes.items IS 'The number of present items.';
COMMENT ON COLUMN scopes.published IS 'The last number that was given to an item of the scope (`change_log.ordinal`).';
COMMENT ON CONSTRAINT scopes_floor_reached ON scopes IS 'The current token of a scope never expires.';

INSERT INTO scopes (scope) VALUES ('');

------------------------------------------------------------------------------------------------------------------
-- Topics
------------------------------------------------------------------------------------------------------------------

CREATE TABLE topics (
  slug text COLLATE "C" PRIMARY KEY REFERENCES scopes (scope) CHECK (slug <> ''),
  titles jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(titles) = 'object'),
  position integer NOT NULL DEFAULT 0,
  revision bigint NOT NULL DEFAULT 1,
  updated timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp())
);

COMMENT ON TABLE topics IS 'The sections of the app.';

CREATE FUNCTION move_topic_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.revision := OLD.revision + 1;
  NEW.updated := greatest(date_trunc('milliseconds', clock_timestamp()), OLD.updated + interval '1 millisecond');
  RETURN NEW;
END
$$;

COMMENT ON FUNCTION move_topic_revision IS
  'Counts the writes of a topic. The revision is the optimistic lock of editors. Edits with plain SQL increment it
too.';

CREATE TRIGGER topics_edited BEFORE UPDATE ON topics FOR EACH ROW
  WHEN ((OLD.titles, OLD.position) IS DISTINCT FROM (NEW.titles, NEW.position) AND OLD.revision = NEW.revision)
  EXECUTE FUNCTION move_topic_revision();

CREATE TABLE topics_state (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  revision bigint NOT NULL
);

COMMENT ON TABLE topics_state IS
  'The revision of the list of topics. Titles, positions and new topics change no version of the feed; processes that
cache the topics compare this number instead. It is a row and not a sequence, because the new value must not be
visible before the change.';

INSERT INTO topics_state (revision) VALUES (0);

CREATE FUNCTION topics_revision() RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT revision FROM topics_state
$$;

COMMENT ON FUNCTION topics_revision IS 'The revision of the list of topics.';

CREATE FUNCTION move_topics_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE topics_state SET revision = revision + 1;
  RETURN NULL;
END
$$;

COMMENT ON FUNCTION move_topics_revision IS 'Moves the revision of the list of topics.';

CREATE CONSTRAINT TRIGGER topics_changed AFTER INSERT OR DELETE ON topics
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION move_topics_revision();
COMMENT ON TRIGGER topics_changed ON topics IS
  'These triggers are deferred to the end of the transaction, so that the row is locked only briefly.';

CREATE CONSTRAINT TRIGGER topics_updated AFTER UPDATE ON topics
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*)
  EXECUTE FUNCTION move_topics_revision();

CREATE TRIGGER topics_truncated AFTER TRUNCATE ON topics
  FOR EACH STATEMENT EXECUTE FUNCTION move_topics_revision();
COMMENT ON TRIGGER topics_truncated ON topics IS 'PostgreSQL defers only triggers for each row.';

CREATE FUNCTION notify_topics() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('tidings', 'topics');
  RETURN NULL;
END
$$;

COMMENT ON FUNCTION notify_topics IS 'Notifies the processes that cache the topics.';

CREATE TRIGGER topics_notify AFTER INSERT OR UPDATE OR DELETE ON topics
  FOR EACH STATEMENT EXECUTE FUNCTION notify_topics();

CREATE TABLE topic_merges (
  slug text COLLATE "C" PRIMARY KEY,
  other text COLLATE "C" NOT NULL
);

COMMENT ON TABLE topic_merges IS
  'The topics into which deleted ones were merged. A device that renews its registration may not know of it yet.';
COMMENT ON COLUMN topic_merges.other IS 'Not a foreign key, so that topics can still be truncated by hand.';

CREATE INDEX topic_merges_by_other ON topic_merges (other);

------------------------------------------------------------------------------------------------------------------
-- Items
------------------------------------------------------------------------------------------------------------------

CREATE TABLE items (
  id uuid PRIMARY KEY,
  state text NOT NULL CHECK (state IN ('draft', 'review', 'scheduled', 'published', 'retracted', 'expired')),
  revision bigint NOT NULL DEFAULT 1,

  -- Public columns.
  date timestamptz NOT NULL CHECK (date = date_trunc('milliseconds', date)),
  title text CHECK (octet_length(title) <= 1024),
  summary text,
  text text NOT NULL CHECK (octet_length(text) <= 262144),
  html text,
  topics text[] COLLATE "C" NOT NULL DEFAULT '{}'
    CHECK (cardinality(topics) <= 16 AND array_ndims(topics) IS DISTINCT FROM 2),
  language text,
  url text,
  author text,
  breaking boolean NOT NULL DEFAULT false,
  attachments jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(attachments) = 'array'),

  digest bytea NOT NULL GENERATED ALWAYS AS (item_digest(
    milliseconds(date), title, summary, text, html, topics, language, url, author, breaking, attachments)) STORED,
  size integer NOT NULL GENERATED ALWAYS AS (
    item_size(title, summary, text, topics, url, author, attachments)) STORED,

  -- Editorial columns.
  publish_at timestamptz,
  expire_at timestamptz,
  retraction_reason text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  written_at timestamptz DEFAULT clock_timestamp(),
  has_date boolean NOT NULL DEFAULT true,
  editor text,
  editor_revision bigint,

  source text,
  source_guid text,
  source_digest bytea,

  erased_at timestamptz,

  CONSTRAINT items_schedule CHECK (state <> 'scheduled' OR publish_at IS NOT NULL),
  CONSTRAINT items_published_date CHECK (has_date OR state <> 'published')
);

COMMENT ON TABLE items IS
  'The news, in all states. Readers see those that are published, and of them the public columns: from `date` to
`attachments`.';
COMMENT ON COLUMN items.revision IS 'The number of writes, and the optimistic lock of editors.';
COMMENT ON COLUMN items.digest IS
  'publish() and require_publication() compare digests. Stored, the digest is computed once for each write.';
COMMENT ON COLUMN items.size IS 'Limits pages of JSON to a number of bytes.';
COMMENT ON COLUMN items.written_at IS 'The time of the last write.';
COMMENT ON COLUMN items.has_date IS
  'Whether an editor, or the publication, has set the date. Until then it is that of the last write.';
COMMENT ON COLUMN items.editor IS
  'The author of the last write, as `KIND` or `KIND:NAME`, such as `key:desk`, `import` or `schedule`.';
COMMENT ON COLUMN items.editor_revision IS
  'The revision that `editor` has written. A later revision has another author, who is unknown.';
COMMENT ON COLUMN items.source IS
  'The source of an imported item. The digest is that of the source''s own entry at the last import.';
COMMENT ON COLUMN items.erased_at IS 'The time when the texts were erased for good; NULL while the item has them.';

CREATE INDEX items_by_date ON items (date DESC, id DESC);
CREATE INDEX items_by_topics ON items USING gin (topics) WITH (fastupdate = off);

CREATE INDEX items_by_write ON items (
  state, (milliseconds(coalesce(written_at, created_at))) DESC, id DESC)
  INCLUDE (topics, date, written_at, created_at) WHERE state IS NOT NULL;
COMMENT ON INDEX items_by_write IS
  'For lists sorted by the last write. The filters and the counts read no row besides the index, whose time PostgreSQL
only uses for this if it also has the columns of the expression. The condition, which is always true, keeps look-ups
of an id, which do not name a state, from reading this whole index: it costs no more while the table is small, and
plans are kept.';

CREATE INDEX items_to_publish ON items (publish_at) WHERE state = 'scheduled';
CREATE INDEX items_to_expire ON items (expire_at) WHERE state = 'published' AND expire_at IS NOT NULL;

CREATE FUNCTION count_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.id <> OLD.id THEN
    RAISE EXCEPTION 'the id of an item never changes' USING ERRCODE = 'TD005';
  END IF;
  NEW.revision := OLD.revision + 1;
  NEW.written_at := clock_timestamp();
  RETURN NEW;
END
$$;

COMMENT ON FUNCTION count_revision IS
  'Counts the writes of an item. Writes with plain SQL increment the revision too. The id never changes, because
clients identify the item by it.';

CREATE TRIGGER items_count_revision BEFORE UPDATE ON items FOR EACH ROW EXECUTE FUNCTION count_revision();

CREATE FUNCTION refuse_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'TRUNCATE would remove items without a version: retract them instead' USING ERRCODE = 'TD004';
END
$$;

COMMENT ON FUNCTION refuse_truncate IS
  'TRUNCATE fires no trigger for each row, so that nothing could check that the removals were published.';

CREATE TRIGGER items_refuse_truncate BEFORE TRUNCATE ON items EXECUTE FUNCTION refuse_truncate();

------------------------------------------------------------------------------------------------------------------
-- Search (PostgreSQL, chapter 12)
------------------------------------------------------------------------------------------------------------------

CREATE FUNCTION search_configuration(language text) RETURNS regconfig
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
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

COMMENT ON FUNCTION search_configuration IS
  'The text search configuration for the primary subtag of a BCP 47 language tag; ''simple'', which only folds case,
for other languages. This is a function, because pg_upgrade refuses a stored column of type regconfig. Not inlined:
the plan of each search would contain all of it.';

CREATE FUNCTION day_number(date timestamptz) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN floor(extract(epoch FROM date AT TIME ZONE 'UTC') / 86400)::integer;

COMMENT ON FUNCTION day_number IS 'The number of the UTC day since 1970.';

CREATE FUNCTION search_document(configuration regconfig, words text, day integer) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 5000 AS $$
BEGIN
  RETURN to_tsvector('pg_catalog.simple', words)
    || CASE WHEN configuration = 'pg_catalog.simple'::regconfig THEN ''::tsvector
      ELSE to_tsvector(configuration, words) END
    || array_to_tsvector(ARRAY['1 day ' || day, '32 days ' || (day >> 5), '1024 days ' || (day >> 10)]);
END
$$;

COMMENT ON FUNCTION search_document IS
  'The search document for the words of an item, as item_search() describes it. The planner learns from the cost that
parsing a text is expensive.';

CREATE FUNCTION item_search(language text, title text, summary text, text text, date timestamptz)
RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN search_document(
  search_configuration(language),
  left(coalesce(title || E'\n', '') || coalesce(summary || E'\n', '') || text, 100000),
  day_number(date));

COMMENT ON FUNCTION item_search IS
  'The search document of an item: its words as written and as its language inflects them, and its day. Inlined.

Title and summary precede the text. Only the first 100,000 characters count, because a tsvector is limited to 1 MiB.

Readers receive the newest items first. The index list of a common word has a tenth of all items and is decoded as a
whole, unless the index also shows which items are new. So the day is in the document too, in buckets of 1, 32 and
1024 days, so that a few buckets cover the newest items of any feed. A bucket is a lexeme that no reader can search
for, because it contains a space.';

CREATE FUNCTION days_search(days integer[]) RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
  SELECT string_agg(format('''%s %s''', w.width, b.bucket), '|')::tsquery
  FROM (
    SELECT v.width, v.bits FROM (VALUES ('1 day', 0), ('32 days', 5), ('1024 days', 10)) AS v (width, bits)
    WHERE (SELECT count(DISTINCT d >> v.bits) FROM unnest(days) AS d) <= 40 ORDER BY v.bits LIMIT 1
  ) AS w CROSS JOIN LATERAL (SELECT DISTINCT d >> w.bits AS bucket FROM unnest(days) AS d) AS b
);

COMMENT ON FUNCTION days_search IS
  'Matches the items of the given days. If the days need more than 40 buckets, wider buckets are used, which match the
items of other days too.';

CREATE INDEX items_by_search_and_day ON items USING gin (item_search(language, title, summary, text, date))
  WITH (gin_pending_list_limit = 16384);
ALTER INDEX items_by_search_and_day ALTER COLUMN 1 SET STATISTICS 0;
COMMENT ON INDEX items_by_search_and_day IS
  'For searches: an index on the function and not on a stored column, which would be three times as large as the
texts.

New entries are collected in a list, and a writer who finds it full merges it into the index. Merging many entries at
once takes far less time for each, but longer for that writer. So the servers and imports merge the list regularly
beside the writes, and the list has room for what arrives meanwhile.

Statistics of search documents are not needed: the planner''s choice between the plans of a search does not depend on
them. ANALYZE would parse the texts of 30,000 items, again and again while a table grows.';

"""#
