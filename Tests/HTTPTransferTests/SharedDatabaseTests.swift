import Foundation
import GRDB
import HTTPTransfer
import Synchronization
import Testing

/// Database files that several processes open.
@Suite struct SharedDatabaseTests {
  /// Adds a migration that creates a table with the migration's name.
  private static func add(_ name: String, to migrator: inout DatabaseMigrator) {
    migrator.registerMigration(name) { try $0.execute(sql: "CREATE TABLE \(name) (value INTEGER)") }
  }

  private static func withFile(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings shared-\(UUID())")
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

  @Test("Opens a new file for many processes at once")
  func openedAtOnce() throws {
    var migrator = DatabaseMigrator()
    Self.add("first", to: &migrator)
    let added = migrator
    for _ in 0..<10 {
      try Self.withFile { file in
        let queues = Mutex<[DatabaseQueue]>([])
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
          do {
            let queue = try DatabaseQueue.open(file, added)
            queues.withLock { $0.append(queue) }
          } catch {
            failures.withLock { $0.append("\(error)") }
          }
        }
        #expect(failures.withLock(\.self) == [])
        for queue in queues.withLock(\.self) { try queue.close() }
      }
    }
  }

  @Test("Waits for the write of another process")
  func busy() throws {
    try Self.withFile { file in
      var migrator = DatabaseMigrator()
      Self.add("first", to: &migrator)
      let (one, other) = (try DatabaseQueue.open(file, migrator), try DatabaseQueue.open(file, migrator))
      let (isLocked, isWaiting, failures) = (Counter(), Counter(), Counter())
      DispatchQueue.concurrentPerform(iterations: 2) { number in
        do {
          if number == 0 {
            try one.inTransaction(.immediate) { _ in
              isLocked.add()
              for _ in 0..<100 where isWaiting.value == 0 { usleep(10_000) }
              usleep(200_000)
              return .commit
            }
          } else {
            for _ in 0..<6000 where isLocked.value == 0 { usleep(10_000) }
            isWaiting.add()
            try other.write { try $0.execute(sql: "INSERT INTO first VALUES (1)") }
          }
        } catch {
          failures.add()
        }
      }
      #expect(failures.value == 0)
    }
  }

  @Test("Reports a file that another process keeps locked, after its timeout")
  func locked() throws {
    try Self.withFile { file in
      var migrator = DatabaseMigrator()
      Self.add("first", to: &migrator)
      let added = migrator
      // Without a log of its own, the file cannot be read either while it is locked.
      let other = try DatabaseQueue(path: file.path)
      let (isLocked, isOver) = (Counter(), Counter())
      Thread.detachNewThread {
        try? other.inTransaction(.exclusive) { _ in
          isLocked.add()
          for _ in 0..<3000 where isOver.value == 0 { usleep(10_000) }
          return .commit
        }
      }
      for _ in 0..<6000 where isLocked.value == 0 { usleep(10_000) }
      let error = #expect(throws: DatabaseError.self) {
        try DatabaseQueue.open(file, added, busyTimeout: 0.2).close()
      }
      isOver.add()
      #expect(error.map { StorageFailure.reason($0) } == "another process keeps it locked")
    }
  }

  @Test("Renames a damaged file with its log and its index, in the place of older ones")
  func damaged() throws {
    try Self.withFile { file in
      let suffixes = ["", "-wal", "-shm"]
      func texts(_ ending: String) -> [String?] {
        suffixes.map { try? String(contentsOfFile: file.path + $0 + ending, encoding: .utf8) }
      }
      let time = Date(timeIntervalSince1970: 1_700_000_000.9)
      for round in ["first", "second"] {
        for suffix in suffixes {
          try Data((round + suffix).utf8).write(to: URL(filePath: file.path + suffix))
        }
        #expect(try DatabaseQueue.renameDamaged(file, now: time) == file.path + ".broken-1700000000")
        #expect(texts("") == [nil, nil, nil])
        let renamed: [String?] = suffixes.map { round + $0 }
        #expect(texts(".broken-1700000000") == renamed)
      }
    }
  }

  @Test("Restricts a file of earlier builds to its user, and leaves no other file")
  func restricted() throws {
    try Self.withFile { file in
      var migrator = DatabaseMigrator()
      Self.add("first", to: &migrator)
      try DatabaseQueue.open(file, migrator).close()
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
      let queue = try DatabaseQueue.open(file, migrator)
      let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
      #expect(mode == 0o600)
      let names = try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path)
      #expect(names.allSatisfy { ["file.sqlite", "file.sqlite-wal", "file.sqlite-shm"].contains($0) }, "\(names)")
      // Nor does the file that became the database stay open under its first name.
      let folder = file.deletingLastPathComponent().lastPathComponent
      #expect(try openFiles().filter { $0.contains(folder + "/file.sqlite.") } == [])
      try queue.close()
    }
  }

  @Test("Keeps a log, and synchronizes it with the disk before its commits reach the file")
  func synchronized() throws {
    try Self.withFile { file in
      let queue = try DatabaseQueue.open(file, DatabaseMigrator())
      let mode = try queue.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
      // 1 is NORMAL (https://www.sqlite.org/pragma.html#pragma_synchronous).
      let level = try queue.read { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
      #expect(mode == "wal" && level == 1)
      try queue.close()
    }
  }

  @Test("Reports a migration that always fails")
  func brokenMigration() throws {
    try Self.withFile { file in
      var migrator = DatabaseMigrator()
      Self.add("first", to: &migrator)
      let attempts = Counter()
      migrator.registerMigration("second") { db in
        attempts.add()
        // Attempts without end would succeed at last.
        if attempts.value < 10 { try db.execute(sql: "CREATE TABLE first (value INTEGER)") }
      }
      let broken = migrator
      #expect(throws: DatabaseError.self) { _ = try DatabaseQueue.open(file, broken) }
    }
  }
}
