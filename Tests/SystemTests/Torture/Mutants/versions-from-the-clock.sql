-- now() is when a transaction began, not when it was committed.
SELECT mutate('publish(uuid[])',
  $$SELECT s.version INTO STRICT base FROM scopes AS s WHERE s.scope = '' FOR UPDATE;$$,
  $$base := floor(extract(epoch FROM now()) * 10000) * 5;$$);
SELECT mutate('publish(uuid[])', 'SET version = t.version, items', 'SET version = greatest(s.version, t.version), items');
