-- A purge that tells nobody from where on removals are missing.
SELECT mutate('purge_log(interval, integer)', 'greatest(s.floor, g.version)', 's.floor');
