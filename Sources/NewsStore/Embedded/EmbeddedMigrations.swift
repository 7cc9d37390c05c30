// Made by scripts/embed from migrations; do not edit.
// swift-format-ignore-file

/// The names and statements of all migrations, in order.
let embeddedMigrations: [(name: String, sql: String)] = [
  ("0001_items_and_topics.sql", migration0001),
  ("0002_change_log.sql", migration0002),
  ("0003_media_and_keys.sql", migration0003),
]
