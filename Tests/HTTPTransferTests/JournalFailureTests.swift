import FaultServer
import Foundation
import GRDB
import HTTPTransfer
import Synchronization
import TestKit
import Testing

@Suite("A journal that cannot be written") struct JournalFailureTests {
  /// The conditions for the refusal of a change: it stores a failure, or the end of an attempt.
  private static let refusals = [
    #"instr(CAST(NEW.json AS TEXT), '"failure":') > 0"#,
    #"instr(CAST(OLD.json AS TEXT), '"attempt":') > 0 AND instr(CAST(NEW.json AS TEXT), '"attempt":') = 0"#,
  ]

  @Test(
    "ends the worker, which does not try a transfer again whose failure or end of an attempt it cannot store",
    .timeLimit(.minutes(1)), arguments: refusals.indices)
  func unstored(number: Int) async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { _, _, _ in .busy(503, retryAfter: nil) }
      _ = try fixture.download()
      let queue = try DatabaseQueue(path: fixture.folder.appending(path: "transfers/journal.sqlite").path)
      try await queue.write { db in
        try db.execute(
          sql: """
            CREATE TRIGGER refusal BEFORE UPDATE ON transfers
            WHEN \(Self.refusals[number]) BEGIN SELECT RAISE(ABORT, 'refused'); END
            """)
      }
      try queue.close()
      let lines = Mutex<[String]>([])
      let worker = try TransferWorker(
        store: fixture.folder, userAgent: "tests/1", clock: fixture.clock,
        log: { line in lines.withLock { $0.append(line) } })
      let error = await #expect(throws: FetchError.self) { _ = try await worker.run() }
      #expect(error?.code == .storage)
      #expect(error?.message.hasSuffix(": refused") == true, "\(error?.message ?? "")")
      if number == 0 { #expect(lines.withLock(\.self).last == error?.message) }
      #expect(fixture.server.requests.count == 1)
    }
  }

  @Test("is read nevertheless, and written as soon as that is possible")
  func readOnly() async throws {
    try await TransferFixture.with { fixture in
      let store = fixture.folder.appending(path: "other")
      let request = TransferRequest(download: fixture.url)
      func add() throws -> Int64 { try TransferJournal(store: store).add(request).number }
      let first = try add()
      // SQLite cannot open its log.
      let log = store.appending(path: "transfers/journal.sqlite-wal")
      try FileManager.default.createDirectory(at: log, withIntermediateDirectories: true)
      let lines = Mutex<[String]>([])
      let journal = try TransferJournal(store: store) { line in lines.withLock { $0.append(line) } }
      #expect(try journal.transfers().map(\.number) == [first])
      let error = #expect(throws: FetchError.self) { _ = try journal.add(request) }
      #expect(error?.code == .storage)
      let message = "cannot use the list of transfers \(store.path)/transfers/journal.sqlite: it cannot be opened; "
      #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
      try FileManager.default.removeItem(at: log)
      let second = try journal.add(request).number
      #expect(try journal.transfers().map(\.number) == [first, second])
      #expect(lines.withLock(\.self) == [], "it is not damaged")
    }
  }

  @Test("is not renamed if it is damaged, too")
  func damaged() async throws {
    try await TransferFixture.with { fixture in
      let store = fixture.folder.appending(path: "other")
      func fill() throws {
        let description = String(repeating: "x", count: 400_000)
        _ = try TransferJournal(store: store).add(TransferRequest(download: fixture.url), description: description)
      }
      try fill()
      // The end of the file has nothing but the description.
      let file = store.appending(path: "transfers/journal.sqlite")
      let bytes = try Data(contentsOf: file)
      try (bytes.dropLast(200_000) + Data(repeating: 0x5A, count: 200_000)).write(to: file)
      try FileManager.default.createDirectory(
        at: store.appending(path: "transfers/journal.sqlite-wal"), withIntermediateDirectories: true)
      let lines = Mutex<[String]>([])
      let journal = try TransferJournal(store: store) { line in lines.withLock { $0.append(line) } }
      let error = #expect(throws: FetchError.self) { _ = try journal.transfers() }
      #expect(error?.message.hasSuffix(": the file is damaged") == true, "\(error?.message ?? "")")
      #expect(lines.withLock(\.self) == [])
      #expect(FileManager.default.fileExists(atPath: file.path))
    }
  }

  /// Changes the journal as another process does.
  private func change(_ fixture: TransferFixture, _ sql: String) async throws {
    let queue = try DatabaseQueue(path: fixture.folder.appending(path: "transfers/journal.sqlite").path)
    try await queue.write { try $0.execute(sql: sql) }
    try queue.close()
  }

  @Test("because another build has made it is read with the transfers that are only in its log")
  func unknownBuild() async throws {
    try await TransferFixture.with { fixture in
      let request = TransferRequest(download: fixture.url)
      let number = try fixture.journal.add(request).number
      try await change(fixture, "DELETE FROM grdb_migrations")
      let journal = try TransferJournal(store: fixture.folder)
      #expect(try journal.transfers().map(\.number) == [number])
      let error = #expect(throws: FetchError.self) { _ = try journal.add(request) }
      #expect(error?.message.contains("already exists") == true, "\(error?.message ?? "")")
      // Without the table, it is no journal.
      try await change(fixture, "DROP TABLE transfers")
      let refusal = #expect(throws: FetchError.self) { _ = try TransferJournal(store: fixture.folder) }
      #expect(refusal?.message.contains("already exists") == true, "\(refusal?.message ?? "")")
    }
  }

  @Test("in part, because a later build has written some of it, is used without that part")
  func unknownRecords() async throws {
    final class Ends: TransferDelegate {
      let numbers = Mutex<[Int64]>([])
      func transfer(_ task: TransferTask, didEndAs transfer: Transfer) {
        numbers.withLock { $0.append(transfer.number) }
      }
    }
    try await TransferFixture.with { fixture in
      let (journal, request) = (fixture.journal, TransferRequest(download: fixture.url))
      let numbers = try (0..<2).map { _ in try journal.add(request, session: "media").number }
      for number in numbers { try journal.resume(number, at: fixture.clock.now) }
      try await change(
        fixture,
        """
        UPDATE transfers SET json = CAST('{}' AS BLOB) WHERE number = \(numbers[0]);
        INSERT INTO events (session, json) VALUES ('media', CAST('{}' AS BLOB));
        """)
      #expect(try journal.transfers().map(\.number) == [numbers[1]])
      #expect(try journal.transfer(numbers[0]) == nil)
      #expect(try journal.resume(numbers[0], at: fixture.clock.now) == false)
      try await fixture.working { try await fixture.finish(numbers[1]) }
      let ends = Ends()
      let session = try TransferSession(identifier: "media", store: fixture.folder, delegate: ends) {}
      let hasEnded = Mutex(false)
      try session.onAllEventsDelivered { hasEnded.withLock { $0 = true } }
      try await eventually("the handler is called") { hasEnded.withLock(\.self) }
      #expect(ends.numbers.withLock(\.self) == [numbers[1]])
      await session.invalidate()
    }
  }

  @Test("is not created by the question whether a worker is needed, which queries the machine only if that matters")
  func question() async throws {
    try await TransferFixture.with { fixture in
      let none = fixture.folder.appending(path: "none")
      #expect(try !TransferJournal.needsWorker(store: none))
      #expect(!FileManager.default.fileExists(atPath: none.path))
      var queries = 0
      func isNeeded() throws -> Bool {
        try TransferJournal.needsWorker(
          store: fixture.folder,
          obstacles: {
            queries += 1
            return [.network]
          }, clock: fixture.clock)
      }
      _ = try fixture.download { $0.isDiscretionary = true }
      var isWanted = try isNeeded()
      #expect(!isWanted && queries == 1)
      _ = try fixture.download { $0.file = fixture.folder.appending(path: "plain.bin") }
      isWanted = try isNeeded()
      #expect(isWanted && queries == 1)
    }
  }
}
