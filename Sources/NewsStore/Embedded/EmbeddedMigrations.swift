// Made by scripts/embed from migrations; do not edit.
// swift-format-ignore-file

/// The names and statements of all migrations, in order.
let embeddedMigrations: [(name: String, sql: String)] = [
  ("0001_topics_and_items.sql", migration0001),
  ("0002_change_log.sql", migration0002),
  ("0003_history.sql", migration0003),
  ("0004_keys.sql", migration0004),
  ("0005_media.sql", migration0005),
  ("0006_subscriptions.sql", migration0006),
  ("0007_pushes.sql", migration0007),
  ("0008_webhooks.sql", migration0008),
]
