-- The counter is raised by a transaction of its own, before there is anything to see.
CREATE EXTENSION dblink;
SELECT mutate('publish(uuid[])',
  $$SELECT s.version INTO STRICT base FROM scopes AS s WHERE s.scope = '' FOR UPDATE;$$,
  $$SELECT early.base INTO STRICT base FROM dblink(
      'host=127.0.0.1 user=tidings dbname=' || current_database() || ' port=' || current_setting('port'),
      'UPDATE scopes SET version = version + 1000 WHERE scope = '''' RETURNING version - 1000') AS early (base bigint);$$);
SELECT mutate('publish(uuid[])', 'SET version = t.version, items', 'SET version = greatest(s.version, t.version), items');
