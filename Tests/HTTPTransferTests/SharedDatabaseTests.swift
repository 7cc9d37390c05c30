import Foundation
import GRDB
import HTTPTransfer
import Testing

/// Database files that several processes open.
@Suite struct SharedDatabaseTests {
  /// Adds a migration that creates a table with the migration's name.
  private static func add(_ name: String, to migrator: inout DatabaseMigrator) {
    migrator.registerMigration(name) { try $0.execute(sql: "CREATE TABLE \(name) (value INTEGER)") }
  }

  private static func withFile(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-shared-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder.appending(path: "file.sqlite"))
  }

  @Test("Migrates a file while another process has done some of the migrations, but not all")
  func interleavedMigrations() throws {
    try Self.withFile { file in
      var other = DatabaseMigrator()
      for name in ["first", "second"] { Self.add(name, to: &other) }
      let others = other
      var migrator = DatabaseMigrator()
      migrator.registerMigration("first") { db in
        try db.execute(sql: "CREATE TABLE first (value INTEGER)")
        // Between this migration and the next, the other process does the next one.
        db.afterNextTransaction { _ in _ = try? DatabaseQueue.open(file, others) }
      }
      for name in ["second", "third"] { Self.add(name, to: &migrator) }
      let queue = try DatabaseQueue.open(file, migrator)
      let complete = migrator
      #expect(try queue.read { try complete.hasCompletedMigrations($0) })
      #expect(try queue.read { try $0.tableExists("third") })
    }
  }

  @Test("Reports a migration that always fails")
  func brokenMigration() throws {
    try Self.withFile { file in
      var migrator = DatabaseMigrator()
      Self.add("first", to: &migrator)
      migrator.registerMigration("second") { try $0.execute(sql: "CREATE TABLE first (value INTEGER)") }
      let broken = migrator
      #expect(throws: DatabaseError.self) { _ = try DatabaseQueue.open(file, broken) }
    }
  }
}
