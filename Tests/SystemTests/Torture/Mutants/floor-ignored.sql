-- A purge that does not record from which version on removals are missing.
SELECT mutate('purge_log(interval, integer)', 'greatest(s.floor, g.version)', 's.floor');
