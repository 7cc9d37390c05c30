// Made by scripts/embed from migrations/0013_key_scopes.sql; do not edit.
// swift-format-ignore-file

let migration0013 = #"""
-- Keys that may publish, and keys that may only write drafts. Existing keys keep their rights.

ALTER TABLE api_keys DROP CONSTRAINT api_keys_scopes_check;

UPDATE api_keys SET scopes = array_append(scopes, 'items:publish')
  WHERE 'items:write' = ANY (scopes) AND NOT 'items:publish' = ANY (scopes);

ALTER TABLE api_keys ADD CONSTRAINT api_keys_scopes_check CHECK (
  scopes <@ ARRAY['items:write', 'items:publish', 'media:write', 'push:send', 'admin'] AND cardinality(scopes) > 0);

-- The migration before the last one has used it, and would need it again if it were repeated.
DROP PROCEDURE fill_change_log_breaking();

"""#
