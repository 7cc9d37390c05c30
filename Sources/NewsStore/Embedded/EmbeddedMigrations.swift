// Made by scripts/embed from migrations; do not edit.
// swift-format-ignore-file

/// The names and statements of all migrations, in order.
let embeddedMigrations: [(name: String, sql: String)] = [
  ("0001_items_and_topics.sql", migration0001),
  ("0002_change_log.sql", migration0002),
  ("0003_media_and_keys.sql", migration0003),
  ("0004_change_log_sizes.sql", migration0004),
  ("0005_change_log_indexes.sql", migration0005),
  ("0006_replaced_indexes.sql", migration0006),
  ("0007_notified_keys.sql", migration0007),
  ("0008_cheaper_writes.sql", migration0008),
  ("0009_first_publications.sql", migration0009),
  ("0010_search_index_upkeep.sql", migration0010),
  ("0011_states.sql", migration0011),
  ("0012_state_indexes.sql", migration0012),
  ("0013_key_scopes.sql", migration0013),
  ("0014_history.sql", migration0014),
  ("0015_subscriptions.sql", migration0015),
  ("0016_keys.sql", migration0016),
  ("0017_idempotency.sql", migration0017),
  ("0018_feed_order.sql", migration0018),
  ("0019_feed_order_index.sql", migration0019),
  ("0020_feed_order_complete.sql", migration0020),
  ("0021_subscription_polls.sql", migration0021),
  ("0022_websub.sql", migration0022),
  ("0023_announcements.sql", migration0023),
  ("0024_console_sessions.sql", migration0024),
  ("0025_lists_of_editors.sql", migration0025),
  ("0026_devices.sql", migration0026),
  ("0027_outbox.sql", migration0027),
  ("0028_webhooks.sql", migration0028),
]
