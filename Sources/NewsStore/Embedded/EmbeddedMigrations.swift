// Made by scripts/embed from migrations; do not edit.
// swift-format-ignore-file

/// The names and statements of all migrations, in order.
let embeddedMigrations: [(name: String, sql: String)] = [
  ("0001_items_and_log.sql", migration0001),
  ("0002_search.sql", migration0002),
  ("0003_state.sql", migration0003),
  ("0004_search_by_day.sql", migration0004),
  ("0005_purge.sql", migration0005),
  ("0006_publish_plans.sql", migration0006),
  ("0007_media.sql", migration0007),
  ("0008_topics_revision.sql", migration0008),
  ("0009_take_down.sql", migration0009),
]
