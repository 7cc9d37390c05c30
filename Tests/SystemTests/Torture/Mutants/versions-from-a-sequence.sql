-- A sequence gives numbers in the order of asking, not of committing.
CREATE SEQUENCE mutant_versions INCREMENT 1000 START 1000;
SELECT mutate('publish(uuid[])',
  $$SELECT s.version INTO STRICT base FROM scopes AS s WHERE s.scope = '' FOR UPDATE;$$,
  $$base := nextval('mutant_versions');$$);
SELECT mutate('publish(uuid[])', 'SET version = t.version, items', 'SET version = greatest(s.version, t.version), items');
